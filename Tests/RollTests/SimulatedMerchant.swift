import MerchantCore
import MerchantTestSupport
import Vocabulary

/// One merchant: its payments, how quickly it acts, and what Apple does for it.
struct SimulatedMerchant {
    enum Diligence { case prompt, late, never }
    enum Step: Hashable { case sign, activate }

    /// A roll that the merchant reverted, and when it repeats each step.
    struct RepeatedRoll {
        let to: PublicKeyHash
        let promotesAt: Timestamp
        let activatesAt: Timestamp
        var isDone = false
    }

    let identifier: MerchantIdentifier
    let diligence: Diligence
    let joinsAt: Timestamp
    /// The mean time between two payments in seconds.
    let pace: Double
    let promotesByHand: Bool
    let sendsJunk: Bool
    /// Reverts its first roll and repeats it in the wrong sequence: promotes weeks before it activates the certificate
    /// at Apple.
    let revertsRoll: Bool
    var repeated: RepeatedRoll?

    private(set) var hasJoined = false
    private(set) var activated: Set<PublicKeyHash> = []
    var promotedByHand: Set<PublicKeyHash> = []
    /// The expiry of each of its certificates.
    var certificateEnds: [PublicKeyHash: Timestamp] = [:]
    private(set) var knownHashes: [PublicKeyHash] = []
    private var due: [PublicKeyHash: [Step: Timestamp]] = [:]
    private var nextPayment: Timestamp

    /// The key that Apple encrypts to, and the key that it is switching to with the period of the switch.
    private var inUse: PublicKeyHash?
    private var switching: (to: PublicKeyHash, from: Timestamp, until: Timestamp)?

    init(_ number: Int, start: Timestamp, _ generator: inout SeededGenerator) {
        identifier = RealStore.merchant(number)
        // The first ten merchants have one kind each, so that a run with ten merchants has every kind.
        let kind = number < 10 ? number : Int.random(in: 0..<10, using: &generator)
        diligence = kind == 8 ? .late : kind == 9 ? .never : .prompt
        joinsAt = start.adding(.seconds(Int.random(in: 0..<300 * 86_400, using: &generator)))
        pace = [30.0, 12, 30, 7, 7, 7, 7, 3, 1, 1][kind] * 86_400
        promotesByHand = Int.random(in: 0..<10, using: &generator) < 3
        sendsJunk = Int.random(in: 0..<10, using: &generator) < 2
        revertsRoll = kind == 1
        nextPayment = joinsAt
    }

    mutating func join(with first: PublicKeyHash, certificateEnds ends: Timestamp) {
        hasJoined = true
        inUse = first
        activated.insert(first)
        promotedByHand.insert(first)
        knownHashes.append(first)
        certificateEnds[first] = ends
    }

    /// Whether the merchant performs the step now. The time is chosen at the first call.
    mutating func isDue(
        _ step: Step, of hash: PublicKeyHash, at now: Timestamp, _ generator: inout SeededGenerator
    ) -> Bool {
        if let time = due[hash]?[step] { return time <= now }
        let days: Int
        switch diligence {
        case .prompt: days = Int.random(in: 0...10, using: &generator)
        case .late: days = Int.random(in: 14...60, using: &generator)
        case .never: days = 100_000
        }
        due[hash, default: [:]][step] = now.adding(Simulation.day * days)
        if step == .sign { knownHashes.append(hash) }
        return false
    }

    /// Whether Apple encrypts only to this key pair, and is not switching to another one.
    func usesOnly(_ hash: PublicKeyHash) -> Bool { inUse == hash && switching == nil }

    /// Activates a key's certificate at Apple, which then switches to this key within 10 minutes to a day.
    mutating func activate(_ hash: PublicKeyHash, at now: Timestamp, _ generator: inout SeededGenerator) {
        activated.insert(hash)
        let minutes = Int.random(in: 10...24 * 60, using: &generator)
        switching = (hash, now, now.adding(.seconds(minutes * 60)))
        // Busy merchants have frequent payments during the switch, so that tokens of both keys arrive mixed.
        nextPayment = min(nextPayment, now)
    }

    /// The times of the payments before `end`.
    mutating func payments(until end: Timestamp, _ generator: inout SeededGenerator) -> [Timestamp] {
        guard hasJoined else { return [] }
        var times: [Timestamp] = []
        while nextPayment < end {
            times.append(nextPayment)
            let isBusy = pace < 5 * 86_400 && switching.map { nextPayment <= $0.until } ?? false
            let mean = isBusy ? 1800 : pace
            nextPayment = nextPayment.adding(.seconds(Int(Double.random(in: 0.2...1.8, using: &generator) * mean)))
        }
        return times
    }

    /// The key that Apple encrypts a token to at `now`; nil if Apple has no valid certificate.
    mutating func keyOfToken(at now: Timestamp, _ generator: inout SeededGenerator) -> PublicKeyHash? {
        if let switching {
            if switching.until <= now {
                inUse = switching.to
                self.switching = nil
            } else {
                let length = switching.until.millisecondsSince1970 - switching.from.millisecondsSince1970
                let passed = now.millisecondsSince1970 - switching.from.millisecondsSince1970
                if Double.random(in: 0..<1, using: &generator) < Double(passed) / Double(length) {
                    return ifValid(switching.to, at: now)
                }
                return inUse.flatMap { ifValid($0, at: now) } ?? ifValid(switching.to, at: now)
            }
        }
        return inUse.flatMap { ifValid($0, at: now) }
    }

    /// The key if its certificate is valid; otherwise nil.
    private func ifValid(_ hash: PublicKeyHash, at now: Timestamp) -> PublicKeyHash? {
        certificateEnds[hash].map { now <= $0 } ?? false ? hash : nil
    }
}
