import Foundation
import MerchantTestSupport

/// One client that has merchants of its own registered and unregistered, and notes what it was told.
final class RegistrationWorker: @unchecked Sendable {
    // Proof for @unchecked Sendable: one thread fills it, and it is read after that thread has ended.

    private(set) var ledger = RegistrationLedger()
    /// Answers that no rule allows.
    private(set) var strange: [String] = []

    private let socket: String
    private let name: String
    private let takesOneMore: @Sendable () -> Bool
    private var client: LoadClient?
    /// Merchants that were not given up yet, each with the domains that were ever asked for.
    private var merchants: [(partner: String, domains: Set<String>)] = []
    private var made = 0

    /// - Parameter takesOneMore: whether another request is to be made.
    init(_ name: String, socket: String, takesOneMore: @escaping @Sendable () -> Bool) {
        self.name = name
        self.socket = socket
        self.takesOneMore = takesOneMore
    }

    func work() {
        while takesOneMore() { oneRequest() }
    }

    private func oneRequest() {
        // Several at a time, since one whose outcome is unknown refuses anything else for two minutes.
        if merchants.isEmpty || Int.random(in: 0..<3) == 0 {
            made += 1
            merchants.append(("\(name)-\(made)", []))
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
                strange.append("\(method) \(path): \(status) \(answer)")
            }
            return .refused
        } catch {
            // The daemon was killed: nobody said anything.
            self.client = nil
            return .unknown
        }
    }

    /// Waits for a daemon that starts again.
    private func connected() -> LoadClient? {
        for _ in 0..<1000 where client == nil {
            client = try? LoadClient(socket)
            if client == nil { Thread.sleep(forTimeInterval: 0.01) }
        }
        return client
    }
}
