package import Logging
package import MerchantCore

extension Caller {
    /// The fields of a log line that identify the caller.
    package var logMetadata: Logger.Metadata {
        switch self {
        case .process(let process):
            ["uid": "\(process.uid)", "pid": "\(process.pid)", "program": "\(process.program)"]
        case .remote(let remote): ["caller": "\(remote.name)", "address": "\(remote.address)"]
        }
    }
}
