package import HTTPTypes

/// An error whose response has further header fields, such as `WWW-Authenticate`.
package struct ErrorWithHeaders: Error {
    /// The error that the response describes.
    package let error: any Error
    package let headers: HTTPFields

    package init(_ error: any Error, headers: HTTPFields) {
        self.error = error
        self.headers = headers
    }
}
