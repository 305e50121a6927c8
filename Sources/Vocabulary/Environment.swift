/// The Apple environment that a daemon serves. One for each daemon.
package enum Environment: String, NamedValue {
    case production, sandbox
}
