extension NotConfiguredGateway: SessionGateway {
    package func requestSession(
        _ request: SessionRequest, at host: SessionHost?, as owner: IdentityOwner, within timeLimit: Duration
    ) async throws(GatewayError) -> [UInt8] { throw refusal }
}
