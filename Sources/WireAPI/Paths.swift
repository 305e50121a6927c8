/// The paths of the HTTP routes on the admin socket and the decryptor socket. The other source files of this module
/// add their paths in extensions. A test compares all paths with the servers' routes and with `schema/openapi.yaml`.
package enum Paths {
    package static let health = "/v1/health"
    package static let openAPI = "/v1/openapi.yaml"
    package static let metrics = "/metrics"
}
