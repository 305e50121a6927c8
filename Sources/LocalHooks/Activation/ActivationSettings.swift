/// `provisioning.activation`: which hook gives activation data.
package struct ActivationSettings: Hashable, Sendable {
    package enum Hook: Hashable, Sendable {
        /// A program: its absolute path, then its arguments.
        case command([String])
        case endpoint(LocalEndpoint)
    }

    package let hook: Hook
    /// How long one call of the hook may take.
    package let timeLimit: Duration

    package init(hook: Hook, timeLimit: Duration) {
        self.hook = hook
        self.timeLimit = timeLimit
    }
}
