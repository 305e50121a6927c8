import MerchantCore

/// Finds out whether a store that could not be written can be written again. If the write succeeds, the store accepts
/// changes again.
struct TrialWrite {
    private let records: Transactions<any DaemonStateReading, any DaemonStateWriting>

    init(_ store: any MerchantRepository) { records = .init(store, reads: { $0 }, writes: { $0 }) }

    /// - Returns: whether the write succeeded.
    func run() async -> Bool {
        (try? await records.write({ try $0.setDaemonValue("trialWrite", "") })) != nil
    }
}
