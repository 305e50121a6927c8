import HTTPKit
import LocalSocket
import Logging
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import MetricsKit
import NIOEmbedded
import RESTKit
import ServerKit
import Vocabulary

/// Two merchants with one key pair each, and callers.
enum Sample {
    // swift-format-ignore: NeverForceUnwrap
    static let merchant = MerchantIdentifier("merchant.com.example.shop")!
    // swift-format-ignore: NeverForceUnwrap
    static let other = MerchantIdentifier("merchant.com.example.other")!
    // swift-format-ignore: NeverForceUnwrap
    static let partner = PartnerInternalMerchantIdentifier("shop-1")!
    static let key = PublicKeyHash(of: [1])
    static let otherKey = PublicKeyHash(of: [2])
    static let unknownKey = PublicKeyHash(of: [3])
    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// - Parameter merchants: nil for every merchant.
    static func peer(_ permits: Set<Permit>, for merchants: Set<MerchantIdentifier>? = nil) -> Peer {
        Peer(
            caller: .remote(RemoteCaller(name: "access:test", address: "192.0.2.1")),
            grants: [Grant(permits: permits, merchants: merchants)], holder: .remote("access:test"),
            refusals: RefusalLog(clock: HandMovedClock()))
    }

    static func reporter(for routes: [(method: String, path: String)]) -> RequestReporter {
        RequestReporter(
            problems: ProblemReporter(
                log: LimitedLog(logger), integrityFindings: IntegrityFindings(), refusalLevel: .info,
                forbiddenLevel: .warning),
            requests: RequestMetrics(), server: "test", routes: routes)
    }

    static func context(_ peer: Peer) -> RESTContext {
        let budget = BufferBudget(UserQuotas.Limits(total: 1, perUser: 1, withoutPermit: 1))
        return RESTContext(
            source: RESTConnection(
                peer: peer, channel: EmbeddedChannel(),
                reservedMemory: BufferBudget.Reservation(of: budget, for: peer.holder), logger: logger))
    }
}

/// The handlers of a server of key pairs.
protocol SampleHandlers: RESTHandlers {}

extension SampleHandlers {
    static var permitToRead: Permit { .onboard }
    static var permitToChange: Permit { .onboard }

    func owner(ofKey hash: PublicKeyHash) async throws -> MerchantIdentifier {
        switch hash {
        case Sample.key: return Sample.merchant
        case Sample.otherKey: return Sample.other
        default: throw MerchantError.keyNotFound(hash)
        }
    }

    func owner(ofRoll number: Int) async throws -> MerchantIdentifier { throw MerchantError.rollNotFound(number) }

    func owner(ofRegistration partner: PartnerInternalMerchantIdentifier) async throws -> MerchantIdentifier? { nil }

    func getKey(_ call: RESTCall, _ hash: PublicKeyHash) async throws -> RESTResponse {
        try RESTResponse(["merchantIdentifier": try await owner(ofKey: hash).rawValue])
    }
}

/// The handlers of a server that responds with 403 to a request for another merchant's resource.
struct OpenHandlers: SampleHandlers {
    static let outOfScope = OutOfScopeResponse.forbidden
}

/// The handlers of a server that responds with 404 to a request for another merchant's resource.
struct HidingHandlers: SampleHandlers {
    static let outOfScope = OutOfScopeResponse.notFound
}
