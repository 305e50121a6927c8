/// Warns for `config check` and `diagnose` if the disk is too full for a start with a SQLite database, or for changes.
struct StartSpaceCheck {
    /// What a first start needs for its databases and their write-ahead logs, in bytes.
    private static let spaceForNewDatabase = 1 << 20

    let settings: Settings

    func run(_ findings: inout PreparationFindings) {
        // The state directory may be missing before the first start.
        let directory = settings.stateDirectory
        guard let space = DiskSpace(of: directory) ?? DiskSpace(of: PathAccess.directory(of: directory)) else { return }
        let isFirstStart = FileStatus(of: settings.databasePath) == nil
        let needed = isFirstStart ? Self.spaceForNewDatabase : DiskReserve.spacePerStart
        // A start can use the reserve.
        let available = space.free + DiskReserve(directory: directory).size
        if available < needed {
            findings.warn(
                "\(available >> 10) KiB are free on the file system of \(directory), and a \(isFirstStart ? "first start" : "start") needs \(needed >> 10) KiB, so it may fail; free disk space"
            )
        } else if space.level == .nearlyFull, let shortage = space.shortage(in: directory) {
            findings.warn(shortage)
        }
    }
}
