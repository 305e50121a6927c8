import MerchantKeyClient
import StrictJSON
import Vocabulary

/// The error of a command as `--output json` prints it: one JSON object on the last line of standard error. Standard
/// output contains only results, so a program can parse it even if the command fails.
struct ErrorDocument {
    let failure: CommandFailure
    /// The program's exit status.
    let exitStatus: Int32

    init(_ failure: CommandFailure, exitStatus: Int32? = nil) {
        self.failure = failure
        self.exitStatus = exitStatus ?? failure.status.rawValue
    }

    /// The document on one line, without a line feed.
    var json: String {
        var members: [JSONObject.Member] = [
            .init(name: "code", value: .string(code)), .init(name: "detail", value: .string(detail)),
            .init(name: "exitStatus", value: .number("\(exitStatus)")),
        ]
        if let refusal = failure.refusal {
            members.append(.init(name: "httpStatus", value: .number("\(refusal.status)")))
            if !refusal.requestId.isEmpty {
                members.append(.init(name: "requestId", value: .string(refusal.requestId)))
            }
            if let seconds = refusal.retryAfter {
                members.append(.init(name: "retryAfter", value: .number("\(seconds)")))
            }
        }
        let error = JSONValue.object(JSONObject(members: members))
        return JSONText.compact(.object(JSONObject(members: [.init(name: "error", value: error)])))
            .printable(keepingLines: false)
    }

    /// The daemon's code for a refusal; otherwise the code of the failure, or the meaning of the exit status.
    private var code: String {
        if let code = failure.refusal?.code ?? failure.code { return code }
        return switch failure.status {
        case .done, .failed: "failed"
        case .wrongUsage: "wrongUsage"
        case .unreachable: "unreachable"
        }
    }

    private var detail: String { failure.refusal?.detail ?? failure.reason }
}

extension OutputFormat {
    /// The format that a command line requests. Also finds the format if the argument parser refuses the command line.
    static func requested(by arguments: [String]) -> OutputFormat {
        let options = arguments.prefix { $0 != "--" }
        var format = OutputFormat.table
        for (option, next) in zip(options, options.dropFirst().map(Optional.some) + [nil]) {
            let isAlone = option == "--output" || option == "-o"
            let value = isAlone ? next : option.hasPrefix("--output=") ? String(option.dropFirst(9)) : nil
            guard let argument = value.flatMap(OutputArgument.init(rawValue:)) else { continue }
            format = argument == .json ? .json : .table
        }
        return format
    }
}
