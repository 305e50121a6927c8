import Vocabulary

/// How urgent an event or a finding of `status` is, in ascending order.
package enum Severity: String, NamedValue, Comparable {
    case notice, warning, critical

    package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .notice: 0
        case .warning: 1
        case .critical: 2
        }
    }
}
