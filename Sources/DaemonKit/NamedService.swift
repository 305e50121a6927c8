import ServiceLifecycle

/// A service that the log shows by its name. At the level debug, the library logs the description of each service, and
/// the standard description of a value shows everything that the value contains.
struct NamedService: Service, CustomStringConvertible {
    let service: any Service

    var description: String {
        (service as? any CustomStringConvertible)?.description ?? "\(type(of: service))"
    }

    func run() async throws { try await service.run() }
}
