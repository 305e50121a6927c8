import ArgumentParser
import Vocabulary

/// The states in which a key pair may be imported.
package enum ImportStateArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case standby, current, retiring

    var state: KeyState {
        switch self {
        case .standby: .standby
        case .current: .current
        case .retiring: .retiring
        }
    }
}
