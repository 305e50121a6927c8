import MerchantCore
import StrictJSON
import Vocabulary

/// The JSON object with which a hook responds: `{"activationData": BASE64}`. Further fields are ignored.
enum ActivationResponse {
    /// - Parameter hook: the hook's name, for the error.
    /// - Throws: `activationFailed`, without any part of the response: it may contain card data.
    static func activationData(in response: [UInt8], of hook: String) throws(MerchantError) -> [UInt8] {
        let text: String
        do throws(JSONFault) {
            var fields = try JSONFields(parsing: response)
            text = try fields.requiredString("activationData")
        } catch {
            throw .activationFailed("\(hook) did not respond with a JSON object that has the text 'activationData'")
        }
        guard let data = Base64.decode(text) else {
            throw .activationFailed("the 'activationData' of \(hook) is not Base64")
        }
        let bytes = Array(data)
        guard !bytes.isEmpty else { throw .activationFailed("the 'activationData' of \(hook) is empty") }
        return bytes
    }
}

extension MerchantError {
    /// - Parameter cause: what went wrong, without card data.
    static func activationFailed(_ cause: String) -> MerchantError {
        MerchantError(
            .activationFailed,
            "the activation data was not generated: \(cause); the nonce was not used, so the request can be repeated when the hook works"
        )
    }

    /// - Parameter cause: what went wrong, without card data.
    static func activationUnavailable(_ cause: String) -> MerchantError {
        MerchantError(
            .activationUnavailable,
            "the activation data was not generated: \(cause); check the settings provisioning.activation, and repeat the request: the nonce was not used"
        )
    }
}
