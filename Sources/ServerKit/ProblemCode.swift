import HTTPKit
import MerchantCore

/// One error code of the HTTP interface, with every status that it can have and the advice on a retry. Tests compare
/// ``all`` with `schema/openapi.yaml` and `docs/errors.md`.
package struct ProblemCode: Hashable, Sendable {
    package let name: String
    package let statuses: Set<Int>
    package let retry: RetryAdvice

    /// All codes: first the codes of the daemon's errors, then the codes for violations of HTTP's rules.
    package static let all: [ProblemCode] = {
        let faults = HTTPFault.examples.map { fault in
            (code: fault.problem.code, status: fault.problem.status, retry: ProblemTable.retryAdvice(fault))
        }
        let errors = MerchantError.Code.allCases.map { code in
            let ofFaults = faults.filter { $0.code == code.rawValue }.map(\.status)
            return ProblemCode(
                name: code.rawValue, statuses: Set(ofFaults).union([ProblemTable.status(of: code).status]),
                retry: ProblemTable.retryAdvice(code))
        }
        let names = Set(errors.map(\.name))
        return errors
            + faults.filter { !names.contains($0.code) }.reduce(into: [ProblemCode]()) { codes, fault in
                let known = codes.firstIndex { $0.name == fault.code }
                let statuses = known.map { codes[$0].statuses } ?? []
                let code = ProblemCode(
                    name: fault.code, statuses: statuses.union([fault.status]), retry: fault.retry)
                if let known { codes[known] = code } else { codes.append(code) }
            }
    }()
}
