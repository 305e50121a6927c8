import Glibc
import LocalHooks

/// Checks whether the daemon can run the program of `provisioning.activation.command`, and whether other users can
/// replace it.
///
/// A daemon that cannot run the program still serves payments, and provisions cards whose requests contain activation
/// data. So a program that cannot be run is only a warning.
enum ActivationCommandCheck {
    static func run(_ settings: Settings, _ findings: inout PreparationFindings) {
        guard let activation = settings.provisioning?.activation, case .command(let arguments) = activation.hook,
            let program = arguments.first
        else { return }
        CommandCheck.run(program, setting: "provisioning.activation.command", &findings)
        let reason: String
        if let file = FileStatus(of: program, followsLinks: true) {
            guard file.kind != .regular || !PathAccess.allows(X_OK, program) else { return }
            reason = file.kind == .regular ? "is not executable for the daemon's user" : "is not a file"
        } else {
            reason = PathAccess.lastError
        }
        findings.warn(
            "'provisioning.activation.command': \(program): \(reason); requests without activation data will fail")
    }
}
