/// A way in which the sandbox's gateway can be told to fail.
package struct GatewayFault: Hashable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        /// Acts, and answers late.
        case slow
        /// Acts, and never answers; the connection stays.
        case hang
        /// Apple's own failures; nothing is done.
        case status401 = "401"
        case status417 = "417"
        case status429 = "429"
        case status500 = "500"
        /// Acts, and says that it failed.
        case status500AfterActing = "500-after-acting"
        /// Act, and answer 200 with: half of a JSON text, nothing, 2 MiB.
        case malformed
        case empty
        case large
        /// Sends the client elsewhere; nothing is done.
        case redirect
        /// The connection is reset; nothing is done.
        case reset
        /// Acts, and resets the connection.
        case resetAfterActing = "reset-after-acting"
        /// Acts, and ends the connection without an answer.
        case answerLost = "answer-lost"

        /// Whether the call is carried out all the same.
        var acts: Bool {
            switch self {
            case .slow, .hang, .status500AfterActing, .malformed, .empty, .large, .resetAfterActing, .answerLost: true
            case .status401, .status417, .status429, .status500, .redirect, .reset: false
            }
        }
    }

    package let kind: Kind
    /// 0 to 1, of the calls it is for.
    package let probability: Double
    /// How often it still happens; nil: without end.
    package internal(set) var remaining: Int?
    /// The calls it is for; nil: all.
    package let operation: GatewayOperation?

    package init(
        _ kind: Kind, probability: Double = 1, remaining: Int? = nil, operation: GatewayOperation? = nil
    ) {
        self.kind = kind
        self.probability = probability
        self.remaining = remaining
        self.operation = operation
    }

    /// Reads `KIND`, `KIND:PROBABILITY` or `KIND:xCOUNT`, each with `@OPERATION` behind it or not.
    package init(_ text: String) throws(SandboxFault) {
        let expected =
            "KIND[:PROBABILITY|:xCOUNT][@OPERATION], KIND one of \(Kind.allCases.map(\.rawValue).joined(separator: ", ")), OPERATION one of \(GatewayOperation.allCases.map(\.rawValue).joined(separator: ", "))"
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        let head = parts[0].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let kind = Kind(rawValue: String(head[0])) else {
            throw SandboxFault("found the fault '\(text)', expected \(expected)")
        }
        var operation: GatewayOperation?
        if parts.count == 2 {
            operation = GatewayOperation(rawValue: String(parts[1]))
            guard operation != nil else { throw SandboxFault("found the fault '\(text)', expected \(expected)") }
        }
        guard head.count == 2 else {
            self.init(kind, operation: operation)
            return
        }
        if head[1].hasPrefix("x"), let count = Int(head[1].dropFirst()), count > 0 {
            self.init(kind, remaining: count, operation: operation)
        } else if let probability = Double(head[1]), (0...1).contains(probability) {
            self.init(kind, probability: probability, operation: operation)
        } else {
            throw SandboxFault("found the fault '\(text)', expected \(expected)")
        }
    }

    /// As ``init(_:)`` reads it.
    package var text: String {
        let amount = remaining.map { ":x\($0)" } ?? (probability < 1 ? ":\(probability)" : "")
        return kind.rawValue + amount + (operation.map { "@\($0.rawValue)" } ?? "")
    }
}

/// The calls of the Web Merchant Registration API.
package enum GatewayOperation: String, CaseIterable, Sendable {
    case registerMerchant, unregisterMerchant, getDetails
}
