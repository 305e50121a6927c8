/// The observers that the store notifies of committed changes, before the callers get their results.
package struct StoreObservers: Sendable {
    package let keys: [any KeyChangeObserver]
    package let events: (any EventObserver)?
    package let audit: (any AuditObserver)?

    package init(
        keys: [any KeyChangeObserver] = [], events: (any EventObserver)? = nil, audit: (any AuditObserver)? = nil
    ) {
        self.keys = keys
        self.events = events
        self.audit = audit
    }
}
