import MerchantCore
import MerchantOperations
import Vocabulary

/// Texts of the same kind, such as the names of states. The raw value is the name of the group in `texts.json`, and
/// each of the ``members`` is the rest of a text's path.
enum TextFamily: String, CaseIterable {
    case month
    case party, opsParty
    case stepName, keyState, rollState, domainState, severity
    case notice, problem, uploadProblem
    case error, invitationRefused
    case check

    var members: [String] {
        switch self {
        case .month: (1...12).map { String($0) }
        case .party, .opsParty: RollParty.allCases.map(\.rawValue)
        case .stepName: OnboardingProgress.StepName.allCases.map(\.rawValue)
        case .keyState: KeyState.allCases.map(\.rawValue)
        case .rollState: RollState.allCases.map(\.rawValue)
        case .domainState: PageDomain.State.allCases.map(\.rawValue)
        case .severity: Severity.allCases.map(\.rawValue)
        case .notice: Self.parts(["title", "body"], of: MerchantNotice.allCases.map(\.rawValue))
        case .problem: Self.parts(["title", "body"], of: MerchantProblem.allCases.map(\.rawValue))
        case .uploadProblem:
            Self.parts(["title", "cause", "action"], of: UploadProblem.Kind.allCases.map(\.rawValue))
        case .error: Self.parts(["title", "body", "action"], of: ErrorPage.Kind.allCases.map(\.rawValue))
        case .invitationRefused:
            Self.parts(
                ["title", "body", "action"], of: InvitationRefusedPage.Reason.allCases.map(\.rawValue))
        case .check: Self.parts(["cause", "action"], of: ["passed"] + DomainCheckFinding.codes)
        }
    }

    private static func parts(_ parts: [String], of names: [String]) -> [String] {
        names.flatMap { name in parts.map { "\(name).\($0)" } }
    }
}
