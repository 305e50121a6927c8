import Foundation
import MerchantTestSupport

/// A client that registers and unregisters merchants of its own, and records the responses.
final class RegistrationWorker: @unchecked Sendable {
    // Proof for @unchecked Sendable: one thread fills it, and it is read after that thread has ended.

    private(set) var ledger = RegistrationLedger()
    /// Responses that are neither a success nor an expected error.
    private(set) var unexpected: [String] = []

    private let socket: String
    private let name: String
    private let mayRequest: @Sendable () -> Bool
    private var client: LoadClient?
    /// The merchants, each with all domains that were ever requested for it.
    private var merchants: [(partner: String, domains: Set<String>)] = []
    private var merchantCount = 0

    /// - Parameter mayRequest: called before each request; the work ends when it returns false.
    init(_ name: String, socket: String, mayRequest: @escaping @Sendable () -> Bool) {
        self.name = name
        self.socket = socket
        self.mayRequest = mayRequest
    }

    func work() {
        while mayRequest() { sendRequest() }
    }

    private func sendRequest() {
        // Uses several merchants: after a call with an unknown outcome, the daemon refuses other requests for the
        // merchant until the outcome is known.
        if merchants.isEmpty || Int.random(in: 0..<3) == 0 {
            merchantCount += 1
            merchants.append(("\(name)-\(merchantCount)", []))
        }
        let index = Int.random(in: max(0, merchants.count - 12)..<merchants.count)
        let (partner, known) = merchants[index]
        let (answer, domains): (RegistrationLedger.Outcome, [String])
        if known.isEmpty || Int.random(in: 0..<10) < 6 {
            domains = Array(Set((0..<Int.random(in: 1...3)).map { _ in "d\(Int.random(in: 0..<6)).example" }))
            merchants[index].domains.formUnion(domains)
            answer = call(
                "POST", "/v1/registrations",
                [
                    "partnerInternalMerchantIdentifier": partner, "partnerMerchantName": "Shop",
                    "encryptTo": Installation.integrator, "domainNames": domains,
                ])
            ledger.noteRegistration(of: domains, for: partner, answer)
        } else {
            domains = Array(known.shuffled().prefix(Int.random(in: 1...2)))
            answer = call("DELETE", "/v1/registrations/\(partner)", ["domainNames": domains, "reason": "closed"])
            ledger.noteUnregistration(of: domains, for: partner, answer)
        }
    }

    private func call(_ method: String, _ path: String, _ body: [String: Any]) -> RegistrationLedger.Outcome {
        guard let bytes = try? JSONSerialization.data(withJSONObject: body), let client = connected() else {
            return .refused
        }
        do {
            let (status, answer) = try client.object(method, path, Array(bytes))
            if (200...201).contains(status) { return .acknowledged }
            let code = answer["code"] as? String ?? ""
            if code == "gatewayResponseNotReceived" { return .unknown }
            if !code.hasPrefix("gateway"),
                !["registrationConflict", "registrationNotFound", "domainNotRegistered"].contains(code)
            {
                unexpected.append("\(method) \(path): \(status) \(answer)")
            }
            return .refused
        } catch {
            // The daemon was killed before it responded.
            self.client = nil
            return .unknown
        }
    }

    /// Waits up to 10 seconds until a daemon that was killed has been started again.
    ///
    /// - Returns: nil if no daemon accepts a connection.
    private func connected() -> LoadClient? {
        for _ in 0..<1000 where client == nil {
            client = try? LoadClient(socket)
            if client == nil { Thread.sleep(forTimeInterval: 0.01) }
        }
        return client
    }
}
