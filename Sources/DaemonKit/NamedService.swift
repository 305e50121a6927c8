import ServiceLifecycle

/// A service that the log shows by its name. At the level debug, the library logs the description of each service, and
/// the standard description of a value shows everything that the value contains.
struct NamedService: Service, CustomStringConvertible {
    let service: any Service

    var description: String { Self.name(of: service) }

    func run() async throws { try await service.run() }

    /// The name of a service that describes itself can change, see ``SimultaneousServices``.
    static func name(of service: any Service) -> String {
        (service as? any CustomStringConvertible)?.description ?? "\(type(of: service))"
    }
}
