/// The largest bodies of requests, in bytes.
package enum BodyLimit {
    /// For most routes.
    package static let ordinary = 65_536
}
