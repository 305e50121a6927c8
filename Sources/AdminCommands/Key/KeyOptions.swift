import ArgumentParser
import Vocabulary

/// The values of `key import --state`: the states that an imported key pair can have.
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
