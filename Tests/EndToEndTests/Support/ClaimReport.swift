import Foundation
import MerchantTestSupport
import Testing

/// The report of 64 processes that claim the same payment tokens at the same time.
struct ClaimReport: Decodable, Equatable {
    let tokens: Int
    /// How many tokens were claimed N times; the key is N, such as "0" or "1".
    let tokensByClaims: [String: Int]
    /// The number of refused claims, by the code of the refusal.
    let refused: [String: Int]

    private static let processes = 64

    /// The report if exactly one process claimed each token, and all other claims were refused.
    static func eachClaimedOnce(_ tokens: Int) -> ClaimReport {
        ClaimReport(
            tokens: tokens, tokensByClaims: ["1": tokens],
            refused: ["tokenAlreadyClaimed": tokens * (processes - 1)])
    }

    /// Starts the processes, calls `interruption` after 20,000 responses, and waits for the end of the processes.
    ///
    /// - Parameters:
    ///   - tokens: a file with one whole payment token on each line.
    ///   - daemons: each process sends its claims to one of them.
    static func ofConcurrentClaims(
        of tokens: String, for merchant: String, on daemons: [Installation], interruption: () throws -> Void
    ) throws -> ClaimReport {
        let first = try #require(daemons.first)
        let (output, errors) = (first.path("claims.out"), first.path("claims.err"))
        let script = try #require(Bundle.module.path(forResource: "claim_tokens", ofType: "py", inDirectory: "Scripts"))
        let claimants = try ChildProcess(
            ["python3", script, tokens, merchant, "\(processes)", "20000"] + daemons.map(\.decryptorSocket),
            output: .file(output), error: .file(errors))
        func errorText() throws -> String { try String(contentsOfFile: errors, encoding: .utf8) }
        try first.eventually("20,000 claims have a response", within: .seconds(300)) {
            try errorText().contains("20000 responses") || !claimants.isRunning
        }
        try interruption()
        let end = claimants.wait()
        let errorText = try errorText()
        try #require(end == .exited(0), "\(errorText)")
        return try JSONDecoder().decode(ClaimReport.self, from: Data(contentsOf: URL(filePath: output)))
    }
}
