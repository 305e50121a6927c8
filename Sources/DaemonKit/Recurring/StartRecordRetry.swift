/// Records the start of the daemon again if this failed, for example because the disk was full. Does nothing once the
/// start is recorded completely.
///
/// The work may hang on the disk of `audit.head.file`. So this is a separate task, which cannot delay
/// ``StoreRecovery``.
struct StartRecordRetry: RecurringTask {
    let startRecord: StartRecord

    func run() async { _ = await startRecord.write() }
}
