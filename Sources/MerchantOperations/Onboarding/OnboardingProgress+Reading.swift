import MerchantCore
import Vocabulary

extension MerchantReading where Self: KeyPairReading & KeyUseReading & RollReading {
    /// How far the onboarding of the merchant is.
    ///
    /// - Throws: `merchantNotFound`, also for a merchant that was removed.
    func onboardingProgress(
        of identifier: MerchantIdentifier, policy: RollPolicy, at time: ClockReading
    ) throws -> OnboardingProgress {
        let merchant = try existingMerchant(identifier)
        let keys = try keyPairs(of: identifier).filter { $0.purpose == .paymentProcessing }
            .map { keyPair -> OnboardingFacts.Key in
                let hash = keyPair.publicKeyHash
                // Pending key pairs have no certificates and no uses, and the uses of revoked ones do not matter here.
                return OnboardingFacts.Key(
                    keyPair, certificates: keyPair.state != .pending ? try certificates(of: hash) : [],
                    use: keyPair.state.isActive ? try keyUse(of: hash) : nil)
            }
        return OnboardingProgress(
            OnboardingFacts(
                merchant: merchant, keys: keys, rolls: try openAndLatestRolls(of: identifier), policy: policy,
                time: time))
    }

    /// The merchant's open rolls and its latest rolls, newest first.
    private func openAndLatestRolls(of merchant: MerchantIdentifier) throws -> [Roll] {
        var found = try rolls(RollFilter(merchant: merchant, step: nil), before: nil, limit: 8)
        for algorithm in KeyAlgorithm.allCases {
            guard let open = try openRoll(of: merchant, algorithm: algorithm),
                !found.contains(where: { $0.number == open.number })
            else { continue }
            found.append(open)
        }
        return found.sorted { $0.number > $1.number }
    }
}
