/// The paths of the admin socket and the decryptor socket. The file of each resource adds its own paths. A test
/// compares them with the servers' routes and with `schema/openapi.yaml`.
package enum Paths {
    package static let health = "/v1/health"
    package static let openAPI = "/v1/openapi.yaml"
    package static let metrics = "/metrics"
}
