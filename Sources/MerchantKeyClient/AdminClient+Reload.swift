package import WireAPI

extension AdminClient {
    /// Makes the daemon read its settings again, and apply the settings that can change without a restart.
    ///
    /// - Parameter dryRun: if true, the daemon only checks the settings and reports what would change.
    package func reload(dryRun: Bool) async throws(ClientError) -> Response<ReloadDocument> {
        var request = ReloadRequest()
        request.dryRun = dryRun
        return try await post(Paths.reload, request)
    }
}
