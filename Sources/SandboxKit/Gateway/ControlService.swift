import FoundationEssentials
import NIOHTTP1

/// The API on the control socket, with which tests observe and control the gateway.
///
/// `GET /registrations` · `GET /sessions` · `GET /statistics` · `GET`, `PUT`, `DELETE /faults`, and the paths of
/// ``MerchantTokenControl``. A fault has the form that ``GatewayFault/init(_:)`` parses.
struct ControlService: Sendable {
    let registrations: RegistrationStore
    let faults: FaultInjector
    let tally: CallTally
    let limit: RateLimit?
    let sessions: SessionLog
    let merchantTokens: MerchantTokenControl

    func reply(to method: HTTPMethod, _ path: String, _ body: [UInt8]) -> GatewayReply {
        switch (method, path) {
        case (.GET, "/registrations"): return .json(.ok, ["items": registrations.merchants])
        case (.GET, "/sessions"): return .json(.ok, ["items": sessions.sessions])
        case (.GET, "/statistics"):
            return .json(
                .ok,
                [
                    "calls": Dictionary(
                        uniqueKeysWithValues: GatewayOperation.allCases.map { ($0.rawValue, tally.calls($0)) }),
                    "limit": ["refused": limit?.rejectedCalls ?? 0],
                    "faults": Dictionary(uniqueKeysWithValues: faults.counts.map { ($0.key.rawValue, $0.value) }),
                ])
        case (.GET, "/faults"): return .json(.ok, ["faults": faults.faults.map(\.text)])
        case (.DELETE, "/faults"):
            faults.replace([])
            return .empty
        case (.PUT, "/faults"):
            guard let texts = (try? JSONDecoder().decode([String: [String]].self, from: Data(body)))?["faults"] else {
                return .error(400, #"the body is invalid, expected {"faults": ["KIND:PROBABILITY", …]}"#)
            }
            do {
                faults.replace(try texts.map { try GatewayFault($0) })
                return .empty
            } catch { return .error(400, "\(error)") }
        default:
            return merchantTokens.reply(to: method, path, body) ?? .error(404, "unknown method or path")
        }
    }
}
