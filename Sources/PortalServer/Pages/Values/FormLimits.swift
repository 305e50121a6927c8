/// The largest bodies of forms, in bytes.
package enum FormLimits {
    /// A form without a file.
    package static let fields = 16 * 1024
    /// A form with a certificate. A file larger than ``CertificateUploadDiagnosis/longest`` is no certificate, but up
    /// to this limit the page can say which kind of file it is.
    package static let upload = 256 * 1024
}
