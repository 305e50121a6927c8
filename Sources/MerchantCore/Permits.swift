package import Vocabulary

/// What a caller may do.
package enum Permit: String, Sendable, CaseIterable {
    /// Find the merchant and certificate of a publicKeyHash on the decryptor socket.
    case resolve
    /// Derive or unwrap a token's symmetric key.
    case symmetricKey
    /// Verify and decrypt payment tokens.
    case decrypt
    /// Decrypt without verifying the signature.
    case decryptUnverified
    /// Verify a token at a time that the caller gives, instead of now. The name stays, because operators write it in
    /// the setting `callers`.
    case judgeAtOtherTime
    /// Export a private key. Never granted by default.
    case exportPrivateKey
    /// Request merchant sessions from Apple.
    case merchantSession
    /// Encrypt card data for in-app provisioning on the issuer socket.
    case provision
    /// Onboard a merchant through the portal: its key pairs, certificates, rolls and registrations.
    case onboard
    /// Read the metrics on the admin socket.
    case monitor
    /// Read everything on the admin socket except the metrics, and see the operators' pages of the portal.
    case read
    /// Make every change on the admin socket.
    case administer
}

/// The permits of a caller, and the merchants that they apply to.
package struct Grant: Hashable, Sendable {
    package let permits: Set<Permit>
    /// The merchants that the permits apply to; nil for every merchant.
    package let merchants: Set<MerchantIdentifier>?
    /// ``permits`` with one bit for each permit. Every request of a decryptor tests permits, and a test of a bit needs
    /// no hash of the permit's name.
    private let permitBits: UInt32

    package init(permits: Set<Permit>, merchants: Set<MerchantIdentifier>?) {
        self.permits = permits
        self.merchants = merchants
        permitBits = permits.reduce(0) { $0 | $1.bit }
    }

    /// Whether the permit is one of ``permits``.
    package func has(_ permit: Permit) -> Bool { permitBits & permit.bit != 0 }
}

extension Permit {
    fileprivate var bit: UInt32 {
        switch self {
        case .resolve: 1
        case .symmetricKey: 1 << 1
        case .decrypt: 1 << 2
        case .decryptUnverified: 1 << 3
        case .judgeAtOtherTime: 1 << 4
        case .exportPrivateKey: 1 << 5
        case .onboard: 1 << 6
        case .monitor: 1 << 7
        case .read: 1 << 8
        case .administer: 1 << 9
        case .provision: 1 << 10
        case .merchantSession: 1 << 11
        }
    }
}

/// The setting `callers`: the permits of each caller. A caller that no rule matches has no permits.
package struct CallerPolicy: Hashable, Sendable {
    /// One entry of the setting.
    package struct Rule: Hashable, Sendable {
        package enum Subject: Hashable, Sendable {
            case uid(UInt32)
            case gid(UInt32)
        }
        package let subject: Subject
        package let grant: Grant

        package init(subject: Subject, grant: Grant) {
            self.subject = subject
            self.grant = grant
        }
    }

    package let rules: [Rule]

    package init(rules: [Rule]) { self.rules = rules }

    /// The policy if the setting is absent: the daemon's own uid and root have every permit except `exportPrivateKey`;
    /// other users have none.
    package static func standard(ownUID: UInt32) -> CallerPolicy {
        let grant = Grant(permits: Set(Permit.allCases).subtracting([.exportPrivateKey]), merchants: nil)
        return CallerPolicy(rules: Set([ownUID, 0]).sorted().map { Rule(subject: .uid($0), grant: grant) })
    }

    /// The grants of all rules that name the caller's uid, or a group that the caller had when it connected.
    ///
    /// Grants add up: a rule for some merchants does not limit a rule for all merchants. A permit applies to a merchant
    /// if at least one of the grants gives the permit.
    package func grants(for process: CallingProcess) -> [Grant] {
        grants(uid: process.uid, groups: process.supplementaryGroups.union([process.gid]))
    }

    /// The grants of a user whose uid and groups are known, without a process.
    package func grants(uid callerUID: UInt32, groups: Set<UInt32>) -> [Grant] {
        rules.filter { rule in
            switch rule.subject {
            case .uid(let uid): uid == callerUID
            case .gid(let gid): groups.contains(gid)
            }
        }.map(\.grant)
    }
}

extension [Grant] {
    /// Whether one of the grants has the permit, for any merchants.
    package func allow(_ permit: Permit) -> Bool { contains { $0.has(permit) } }

    /// Whether one of the grants has the permit for this merchant.
    package func allow(_ permit: Permit, for merchant: MerchantIdentifier) -> Bool {
        contains { $0.has(permit) && $0.merchants?.contains(merchant) ?? true }
    }

    /// Whether the caller has no permit at all.
    package var allowNothing: Bool { allSatisfy { $0.permits.isEmpty } }

    /// The merchants named by the grants that have the permit. A grant for every merchant names none.
    package func merchants(_ permit: Permit) -> Set<MerchantIdentifier> {
        filter { $0.has(permit) }.reduce(into: []) { $0.formUnion($1.merchants ?? []) }
    }

    /// Whether some grant has the permit for every merchant.
    package func allowsEveryMerchant(_ permit: Permit) -> Bool {
        contains { $0.has(permit) && $0.merchants == nil }
    }
}
