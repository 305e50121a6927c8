package import HTTPKit
package import Logging
package import MerchantCore
package import MerchantOperations
import StrictJSON

/// Converts an error to a response with a problem document (RFC 9457), and logs the error.
///
/// The log never contains the detail of a refused request, because the detail may name values of a payment.
package struct ProblemReporter: Sendable {
    package let log: LimitedLog
    private let integrityFindings: IntegrityFindings
    private let refusalLevel: Logger.Level
    private let forbiddenLevel: Logger.Level

    /// - Parameters:
    ///   - integrityFindings: collects the errors with the code `keyDamaged`, for the daemon's status.
    ///   - refusalLevel: the level of the log line for a request that was refused, unless the caller lacks a permit.
    ///   - forbiddenLevel: the level of the log line for a request that was refused because the caller lacks a permit.
    package init(
        log: LimitedLog, integrityFindings: IntegrityFindings, refusalLevel: Logger.Level, forbiddenLevel: Logger.Level
    ) {
        self.log = log
        self.integrityFindings = integrityFindings
        self.refusalLevel = refusalLevel
        self.forbiddenLevel = forbiddenLevel
    }

    /// Logs the error and builds the response.
    ///
    /// - Parameters:
    ///   - metadata: further fields of the log line, such as the caller's user and process identifiers. Evaluated only
    ///     if the line is written.
    ///   - source: the name of the caller that sent the request. Each caller can cause only a limited number of log
    ///     lines.
    package func response(
        to error: any Error, requestId: String, source: String? = nil,
        metadata: @autoclosure () -> Logger.Metadata = [:]
    ) -> ProblemResponse {
        if let fault = error as? HTTPFault {
            log.write(
                refusalLevel, "request refused", source: source,
                metadata: ["code": "\(fault.problem.code)", "requestId": "\(requestId)"].merging(metadata()) { $1 })
            return ProblemResponse(fault, requestId: requestId)
        }
        let error = Self.merchantError(error)
        // `note` ignores all errors except `keyDamaged`.
        integrityFindings.note(error)
        let (level, message): (Logger.Level, String) =
            switch error.code {
            case .internalError, .keyDamaged, .storeUnavailable, .activationFailed, .activationUnavailable,
                .usageInformationFailed, .usageInformationUnavailable:
                (.error, "request failed")
            case .forbidden: (forbiddenLevel, "request forbidden")
            default: (refusalLevel, "request refused")
            }
        log.write(
            level, message, source: source,
            metadata: Self.fields(error, requestId, withDetail: level == .error).merging(metadata()) { $1 })
        return ProblemResponse(error, requestId: requestId)
    }

    /// - Parameter withDetail: whether to log the error's detail. Must be false for a refused request.
    private static func fields(
        _ error: MerchantError, _ requestId: String, withDetail: Bool
    ) -> Logger.Metadata {
        var fields: Logger.Metadata = ["code": "\(error.code.rawValue)", "requestId": "\(requestId)"]
        if withDetail { fields["detail"] = "\(error.detail.prefix(512))" }
        return fields
    }

    /// Converts an error to a `MerchantError`. An error of an unknown type becomes an internal error.
    package static func merchantError(_ error: any Error) -> MerchantError {
        switch error {
        case let error as MerchantError: error
        case let fault as JSONFault: MerchantError(.malformed, fault.description)
        default: MerchantError(.internalError, "\(type(of: error)): \(error)")
        }
    }
}
