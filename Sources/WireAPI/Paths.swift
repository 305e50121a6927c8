/// The paths of the HTTP routes on all sockets and on the portal. The other source files of this module add their paths
/// in extensions. Tests compare the routes of each server with `schema/openapi.yaml`.
package enum Paths {
    package static let health = "/v1/health"
    package static let openAPI = "/v1/openapi.yaml"
    package static let metrics = "/metrics"
}
