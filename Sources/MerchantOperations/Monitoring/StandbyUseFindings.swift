import MerchantCore
import Vocabulary

extension Monitoring {
    /// The finding about standby key pairs outside of a roll to which Apple encrypts: see ``StandbyKeyUse``.
    static func standbyUseFindings(
        in reading: any StatusReading & KeyPairReading & KeyUseReading
    ) throws -> [StatusFinding] {
        let total = try reading.countStandbyKeyPairsInUse()
        guard total > 0 else { return [] }
        return [
            StatusFinding(
                code: .standbyKeyUsed,
                detail:
                    "Apple encrypts tokens to \(total.counted("standby key")) outside of a roll; the daemon decrypts these tokens, but renews only current keys: promote each of these keys with 'key promote', or activate the certificate of another key at Apple",
                counts: [.warning: total],
                mostUrgent: try reading.standbyKeyPairsInUse(limit: StatusFinding.maximumNamed).map {
                    try item(for: $0, in: reading)
                })
        ]
    }

    private static func item(
        for keyPair: KeyPair, in reading: any KeyPairReading & KeyUseReading
    ) throws -> StatusFinding.Item {
        let last = try reading.keyUse(of: keyPair.publicKeyHash)?.decryptions?.last ?? keyPair.stateSince
        return StatusFinding.Item(
            severity: .warning,
            detail: Event.standbyUse(of: keyPair, last: last, current: try reading.currentKeyPair(matching: keyPair)),
            merchantIdentifier: keyPair.merchantIdentifier, publicKeyHash: keyPair.publicKeyHash)
    }
}
