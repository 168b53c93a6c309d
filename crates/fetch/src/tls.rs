//! TLS: which certificates are trusted, and what was agreed with a server.

use std::error::Error as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, ProtocolVersion,
    RootCertStore, SignatureScheme,
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::config::{FetchConfig, TlsVerify};
use crate::exchange::TlsSession;

/// ALPN name of HTTP/2.
const ALPN_HTTP2: &[u8] = b"h2";
/// ALPN name of HTTP/1.1.
const ALPN_HTTP1: &[u8] = b"http/1.1";

/// Makes TLS connections by one set of settings.
pub(crate) struct Tls {
    config: Arc<ClientConfig>,
    /// Where certificates are only noted, the verifier whose findings are noted.
    lenient: Option<Arc<WebPkiServerVerifier>>,
}

/// Why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// The file of extra roots is unreadable or is not PEM.
    #[error("cannot read certificates from {path}")]
    Roots {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: rustls::pki_types::pem::Error,
    },
    /// A certificate in the file of extra roots is none.
    #[error("a certificate in {path} cannot be used")]
    BadRoot {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: rustls::Error,
    },
    /// The file of extra roots has no certificate in it.
    #[error("no certificate in {0}")]
    NoRoots(PathBuf),
    /// The library refused the settings.
    #[error("cannot set up TLS")]
    Setup(#[from] rustls::Error),
    /// The library refused the roots.
    #[error("cannot set up certificate verification")]
    Verifier(#[from] rustls::client::VerifierBuilderError),
}

/// An encrypted connection, and what was agreed on it.
pub(crate) struct Secured {
    pub(crate) stream: TlsStream<TcpStream>,
    pub(crate) session: TlsSession,
    pub(crate) is_http2: bool,
}

impl Tls {
    pub(crate) fn new(config: &FetchConfig) -> Result<Self, TlsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let roots = Arc::new(load_roots(config)?);
        let mut tls = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(Arc::clone(&roots))
            .with_no_client_auth();
        tls.alpn_protocols = if config.http2 {
            vec![ALPN_HTTP2.to_vec(), ALPN_HTTP1.to_vec()]
        } else {
            vec![ALPN_HTTP1.to_vec()]
        };
        let lenient = match config.tls_verify {
            TlsVerify::Strict => None,
            TlsVerify::Lenient => {
                // A resumed session shows no certificate, and so its faults could not be noted.
                tls.resumption = Resumption::disabled();
                Some(WebPkiServerVerifier::builder_with_provider(roots, provider).build()?)
            }
        };
        Ok(Self {
            config: Arc::new(tls),
            lenient,
        })
    }

    /// Does the handshake; the host may be a name or an address.
    pub(crate) async fn secure(&self, stream: TcpStream, host: &str) -> Result<Secured, String> {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(bare).map_err(|error| error.to_string())?;
        let noted = Arc::new(Noted::default());
        let config = match &self.lenient {
            None => Arc::clone(&self.config),
            Some(verifier) => {
                let mut config = ClientConfig::clone(&self.config);
                let noting = NotingVerifier {
                    verifier: Arc::clone(verifier),
                    noted: Arc::clone(&noted),
                    provider: Arc::clone(self.config.crypto_provider()),
                };
                config
                    .dangerous()
                    .set_certificate_verifier(Arc::new(noting));
                Arc::new(config)
            }
        };
        let connecting = TlsConnector::from(config).connect(name.to_owned(), stream);
        let stream = connecting.await.map_err(|error| {
            let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
            cause.map_or_else(|| error.to_string(), in_words)
        })?;
        let connection = stream.get_ref().1;
        Ok(Secured {
            session: session_of(connection, noted.take()),
            is_http2: connection.alpn_protocol() == Some(ALPN_HTTP2),
            stream,
        })
    }
}

/// What is wrong with the file of extra roots, if something is, with its cause: so that it can be refused before anything is written.
#[must_use]
pub fn roots_mistake(config: &FetchConfig) -> Option<String> {
    let error = load_roots(config).err()?;
    let cause = error.source().map(|cause| format!(": {cause}"));
    let cause = cause.unwrap_or_default();
    Some(format!("fetch.extra_roots: {error}{cause}"))
}

/// The built-in roots and those of the settings.
fn load_roots(config: &FetchConfig) -> Result<RootCertStore, TlsError> {
    let built_in = webpki_roots::TLS_SERVER_ROOTS.iter().cloned();
    let mut roots: RootCertStore = built_in.collect();
    let Some(path) = &config.extra_roots else {
        return Ok(roots);
    };
    let unreadable = |source| TlsError::Roots {
        path: path.clone(),
        source,
    };
    let before = roots.len();
    for certificate in CertificateDer::pem_file_iter(path).map_err(unreadable)? {
        let certificate = certificate.map_err(unreadable)?;
        roots.add(certificate).map_err(|source| TlsError::BadRoot {
            path: path.clone(),
            source,
        })?;
    }
    if roots.len() == before {
        return Err(TlsError::NoRoots(path.clone()));
    }
    Ok(roots)
}

fn session_of(connection: &ClientConnection, problem: Option<String>) -> TlsSession {
    let version = match connection.protocol_version() {
        Some(ProtocolVersion::TLSv1_3) => "tls/1.3",
        Some(ProtocolVersion::TLSv1_2) => "tls/1.2",
        Some(_) | None => "tls",
    };
    let suite = connection.negotiated_cipher_suite();
    let name = suite
        .and_then(|suite| suite.suite().as_str())
        .unwrap_or("unknown");
    TlsSession {
        version,
        // rustls marks the suites of TLS 1.3 in their names; IANA does not.
        cipher: name.replacen("TLS13_", "TLS_", 1),
        problem,
    }
}

/// Names of a certificate that a message has.
const NAMES_TOLD_MAX: usize = 5;

/// What went wrong, without the names of types in which rustls tells some of it.
fn in_words(error: &rustls::Error) -> String {
    let rustls::Error::InvalidCertificate(problem) = error else {
        return error.to_string();
    };
    let problem = match problem {
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => {
            // Each as `DnsName("example.org")`.
            let bare = |name: &String| name.split('"').nth(1).unwrap_or(name).to_owned();
            let names: Vec<String> = presented.iter().take(NAMES_TOLD_MAX).map(bare).collect();
            let names = match &names[..] {
                [] => "no name at all".to_owned(),
                names => names.join(", "),
            };
            format!("not valid for {}; it is for {names}", expected.to_str())
        }
        CertificateError::ExpiredContext { not_after, .. } => {
            format!("expired on {}", date(*not_after))
        }
        CertificateError::NotValidYetContext { not_before, .. } => {
            format!("not valid before {}", date(*not_before))
        }
        CertificateError::UnknownIssuer => {
            "its issuer is none that is trusted (UnknownIssuer)".to_owned()
        }
        other if format!("{other:?}").contains("CaUsedAsEndEntity") => {
            "it is that of a certificate authority itself, and a server must have one that an authority signed"
                .to_owned()
        }
        other => other.to_string(),
    };
    format!("invalid peer certificate: {problem}")
}

/// A time as people read it.
fn date(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    let date = jiff::Timestamp::from_second(seconds);
    date.map_or_else(|_| format!("second {seconds}"), |date| date.to_string())
}

/// What a lenient verification found wrong.
#[derive(Debug, Default)]
struct Noted(Mutex<Option<String>>);

impl Noted {
    fn put(&self, problem: String) {
        *self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner) = Some(problem);
    }

    fn take(&self) -> Option<String> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take()
    }
}

/// Accepts every certificate, and notes what is wrong with it.
#[derive(Debug)]
struct NotingVerifier {
    verifier: Arc<WebPkiServerVerifier>,
    noted: Arc<Noted>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for NotingVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verdict = self.verifier.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        if let Err(error) = verdict {
            self.noted.put(error.to_string());
        }
        Ok(ServerCertVerified::assertion())
    }

    // The signatures prove that the server holds the key of the certificate that it shows: that
    // is not what this setting is lenient about.
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustls::pki_types::DnsName;

    use super::*;

    #[test]
    fn what_is_wrong_with_a_certificate_is_told_in_words() {
        let time = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let name = ServerName::DnsName(DnsName::try_from("example.org").unwrap());
        let other = |text: &'static str| {
            let error = std::io::Error::other(text);
            CertificateError::Other(rustls::OtherError(Arc::new(error)))
        };
        for (problem, words) in [
            (
                CertificateError::NotValidForNameContext {
                    expected: name.to_owned(),
                    presented: vec![
                        "DnsName(\"other.example\")".to_owned(),
                        "IpAddress(192.0.2.1)".to_owned(),
                    ],
                },
                "not valid for example.org; it is for other.example, IpAddress(192.0.2.1)",
            ),
            (
                CertificateError::ExpiredContext {
                    time: time(1_000_000_000),
                    not_after: time(86_400),
                },
                "expired on 1970-01-02T00:00:00Z",
            ),
            (
                CertificateError::UnknownIssuer,
                "its issuer is none that is trusted (UnknownIssuer)",
            ),
            (
                other("CaUsedAsEndEntity"),
                "it is that of a certificate authority itself, and a server must have one that an authority signed",
            ),
        ] {
            let told = in_words(&rustls::Error::InvalidCertificate(problem));
            assert_eq!(told, format!("invalid peer certificate: {words}"));
        }
    }
}
