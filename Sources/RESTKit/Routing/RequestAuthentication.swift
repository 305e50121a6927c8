package import HummingbirdCore
package import MerchantCore
package import ServerKit

/// Identifies the caller of one request, for a server whose connections do not identify their callers.
///
/// The function gets the request, the permit of the request's route, and the context of the request. The permit is nil
/// if the route needs no permit, or if the request matches no route. The function returns the caller with the caller's
/// permits. If it throws an error, the server responds with this error.
package typealias RequestAuthentication = @Sendable (Request, Permit?, RESTContext) async throws -> Peer
