#pragma once
// What this project uses of OpenSSL's libcrypto: CMS messages, X.509 chains, and the containers of old private keys.
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/cms.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/// ERR_GET_REASON, a macro in some releases.
static inline int clibcrypto_err_reason(unsigned long code) { return ERR_GET_REASON(code); }

// Stacks of certificates, whose functions are macros.
static inline int clibcrypto_count(const STACK_OF(X509) *stack) { return stack ? sk_X509_num(stack) : 0; }
static inline X509 *clibcrypto_certificate(const STACK_OF(X509) *stack, int index) { return sk_X509_value(stack, index); }
static inline void clibcrypto_free_certificates(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }

/// Overwrites the stack below its caller, where the work that the caller just did with a private key may have left copies:
/// the libraries wipe what they allocate, not what their functions spilt. More than any of them was seen to use.
__attribute__((noinline)) static void clibcrypto_overwrite_stack(void) {
    unsigned char below[16384];
    OPENSSL_cleanse(below, sizeof below);
}
