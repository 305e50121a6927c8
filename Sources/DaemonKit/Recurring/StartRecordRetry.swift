/// Records the start of the daemon again if this failed, for example because the disk was full. Does nothing once the
/// start is recorded completely.
///
/// The work may hang on the disk of `audit.head.file`. So it is a task of its own and does not stop ``StoreRecovery``.
struct StartRecordRetry: RecurringTask {
    let startRecord: StartRecord

    func run() async { _ = await startRecord.write() }
}
