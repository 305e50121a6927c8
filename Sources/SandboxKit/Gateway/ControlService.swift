import FoundationEssentials
import NIOHTTP1

/// What a test asks of the gateway on the control socket:
///
/// `GET /registrations` · `GET /statistics` · `GET`, `PUT`, `DELETE /faults`, a fault being spelled as on the command line.
struct ControlService: Sendable {
    let book: RegistrationBook
    let faults: FaultPlan
    let tally: CallTally
    let limit: RateLimit?

    func reply(to method: HTTPMethod, _ path: String, _ body: [UInt8]) -> GatewayReply {
        switch (method, path) {
        case (.GET, "/registrations"): return .json(.ok, ["items": book.merchants])
        case (.GET, "/statistics"):
            return .json(
                .ok,
                [
                    "calls": Dictionary(
                        uniqueKeysWithValues: GatewayOperation.allCases.map { ($0.rawValue, tally.calls($0)) }),
                    "limit": ["refused": limit?.refused ?? 0],
                    "faults": Dictionary(uniqueKeysWithValues: faults.counts.map { ($0.key.rawValue, $0.value) }),
                ])
        case (.GET, "/faults"): return .json(.ok, ["faults": faults.faults.map(\.text)])
        case (.DELETE, "/faults"):
            faults.replace([])
            return .done
        case (.PUT, "/faults"):
            guard let texts = (try? JSONDecoder().decode([String: [String]].self, from: Data(body)))?["faults"] else {
                return .error(400, #"expected {"faults": ["KIND:PROBABILITY", …]}"#)
            }
            do {
                faults.replace(try texts.map { try GatewayFault($0) })
                return .done
            } catch { return .error(400, "\(error)") }
        default: return .error(404, "no such method and path")
        }
    }
}
