/// The paths of both sockets, as the client requests them. Each resource's file adds its own; a test compares them with the
/// servers' routes and with `schema/openapi.yaml`.
package enum Paths {
    package static let health = "/v1/health"
    package static let openAPI = "/v1/openapi.yaml"
    package static let metrics = "/metrics"
}
