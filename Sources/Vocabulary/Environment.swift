/// The Apple environment that a daemon serves.
package enum Environment: String, NamedValue {
    case production, sandbox
}
