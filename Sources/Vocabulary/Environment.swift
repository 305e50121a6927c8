/// The environment of Apple Pay that a daemon serves: `production` for real payments, `sandbox` for tests.
package enum Environment: String, NamedValue {
    case production, sandbox
}
