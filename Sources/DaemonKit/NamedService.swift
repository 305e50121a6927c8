import ServiceLifecycle

/// A service that the log shows by its name only. ServiceLifecycle logs the description of each service at the level
/// debug, and Swift's default description contains all properties, which may be secrets.
struct NamedService: Service, CustomStringConvertible {
    let service: any Service

    var description: String { Self.name(of: service) }

    func run() async throws { try await service.run() }

    /// Returns the service's own description, or the name of its type if it has none. The description can change over
    /// time, see ``SimultaneousServices``.
    static func name(of service: any Service) -> String {
        (service as? any CustomStringConvertible)?.description ?? "\(type(of: service))"
    }
}
