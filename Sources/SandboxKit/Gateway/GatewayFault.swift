/// A fault to inject into calls of the sandbox's gateway.
package struct GatewayFault: Hashable, Sendable {
    /// What happens to the call and its response. If a call is "not carried out", the gateway neither reads nor changes
    /// its records for it.
    package enum Kind: String, CaseIterable, Sendable {
        /// The call is carried out and the response is late.
        case slow
        /// The call is carried out, no response is sent, and the connection stays open.
        case hang
        // These five kinds respond with an error status. The call is not carried out.
        case status401 = "401"
        case status403 = "403"
        case status417 = "417"
        case status429 = "429"
        case status500 = "500"
        /// The call is carried out, and the response is 500.
        case status500AfterActing = "500-after-acting"
        /// The call is carried out, and the body of the response is incomplete JSON.
        case malformed
        /// The call is carried out, and the body of the response is empty.
        case empty
        /// The call is carried out, and the response is 200 with a body of 2 MiB of spaces.
        case large
        /// The call is carried out, and the response is 200 with an HTML page, such as a proxy or a captive portal
        /// sends.
        case html
        /// The call is carried out, and the body of the response is sent one byte at a time, with a pause before each
        /// byte. A client that limits only the time between two bytes waits for the whole body.
        case trickle
        /// The response is a redirect to another host. The call is not carried out.
        case redirect
        /// The connection is reset. The call is not carried out.
        case reset
        /// The call is carried out, and the connection is reset.
        case resetAfterActing = "reset-after-acting"
        /// The call is carried out, and the connection is closed without a response.
        case answerLost = "answer-lost"

        /// Whether the gateway carries out a call that has this fault.
        var carriesOutCall: Bool {
            switch self {
            case .slow, .hang, .status500AfterActing, .malformed, .empty, .large, .html, .trickle, .resetAfterActing,
                .answerLost:
                true
            case .status401, .status403, .status417, .status429, .status500, .redirect, .reset: false
            }
        }
    }

    package let kind: Kind
    /// The probability, from 0 to 1, that a call of ``operation`` has this fault.
    package let probability: Double
    /// The number of calls that will still have this fault; nil for no limit.
    package internal(set) var remaining: Int?
    /// The operation whose calls can have this fault; nil for all operations.
    package let operation: GatewayOperation?

    package init(
        _ kind: Kind, probability: Double = 1, remaining: Int? = nil, operation: GatewayOperation? = nil
    ) {
        self.kind = kind
        self.probability = probability
        self.remaining = remaining
        self.operation = operation
    }

    /// Parses `KIND`, `KIND:PROBABILITY` or `KIND:xCOUNT`, each optionally followed by `@OPERATION`.
    package init(_ text: String) throws(SandboxError) {
        let expected =
            "KIND[:PROBABILITY|:xCOUNT][@OPERATION], KIND one of \(Kind.allCases.map(\.rawValue).joined(separator: ", ")), OPERATION one of \(GatewayOperation.allCases.map(\.rawValue).joined(separator: ", "))"
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        let kindAndAmount = parts[0].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let kind = Kind(rawValue: String(kindAndAmount[0])) else {
            throw SandboxError("'\(text)' is not a fault, expected \(expected)")
        }
        var operation: GatewayOperation?
        if parts.count == 2 {
            operation = GatewayOperation(rawValue: String(parts[1]))
            guard operation != nil else { throw SandboxError("'\(text)' is not a fault, expected \(expected)") }
        }
        guard kindAndAmount.count == 2 else {
            self.init(kind, operation: operation)
            return
        }
        if kindAndAmount[1].hasPrefix("x"), let count = Int(kindAndAmount[1].dropFirst()), count > 0 {
            self.init(kind, remaining: count, operation: operation)
        } else if let probability = Double(kindAndAmount[1]), (0...1).contains(probability) {
            self.init(kind, probability: probability, operation: operation)
        } else {
            throw SandboxError("'\(text)' is not a fault, expected \(expected)")
        }
    }

    /// The fault in the form that ``init(_:)`` parses.
    package var text: String {
        let amount = remaining.map { ":x\($0)" } ?? (probability < 1 ? ":\(probability)" : "")
        return kind.rawValue + amount + (operation.map { "@\($0.rawValue)" } ?? "")
    }
}
