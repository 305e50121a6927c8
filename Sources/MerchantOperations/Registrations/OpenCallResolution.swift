package import MerchantCore
import Vocabulary

/// The result of asking Apple for the outcomes of all open calls.
package struct OpenCallReport: Hashable, Sendable {
    /// Calls whose outcome is known now.
    package var resolved = 0
    /// Checked calls whose outcome is still unknown. After a ``failure`` that concerns every merchant, the remaining
    /// calls are not checked.
    package var open = 0
    /// Why a call could not be checked; the last reason if there were several.
    package var failure: MerchantError?
}

/// Finds the outcomes of open calls. A call to Apple is open while its outcome is unknown, for example because no
/// response was received, or because the daemon crashed.
package struct OpenCallResolution: Sendable {
    private let calls: RegistrationCalls

    package init(calls: RegistrationCalls) { self.calls = calls }

    private static let pageSize = 100

    /// Asks Apple for the outcome of every open call. If a request for the same merchant is in progress, waits until
    /// that request ends.
    package func resolveOpenCalls(as caller: Caller) async throws -> OpenCallReport {
        let request = Request(caller: caller, requestId: "schedule")
        var report = OpenCallReport()
        var cursor: RegistrationCall?
        while true {
            let (after, limit) = (cursor, Self.pageSize)
            let openCalls = try await calls.records.read { try $0.openCalls(after: after, limit: limit) }
            for call in openCalls {
                do {
                    if try await resolveInQueue(call, for: request) { report.resolved += 1 } else { report.open += 1 }
                } catch let error as MerchantError {
                    report.open += 1
                    report.failure = error
                    guard !error.concernsEveryMerchant else { return report }
                }
            }
            guard openCalls.count == limit else { return report }
            cursor = openCalls.last
        }
    }

    /// - Returns: whether the call is closed now.
    private func resolveInQueue(_ call: RegistrationCall, for request: Request) async throws -> Bool {
        let partner = call.partnerInternalMerchantIdentifier
        return try await calls.run(partner) {
            // While this method waited, the request that made the call may have closed the call, or another request may
            // have opened another call.
            guard let openCall = try await calls.records.read({ try $0.openCall(of: partner) }) else { return true }
            return try await calls.resolve(openCall, for: request)
        }
    }
}
