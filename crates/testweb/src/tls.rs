//! TLS with certificates for every host, signed by an authority that is made when the web starts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{Acceptor, ClientHello, ResolvesServerCert};
use rustls::sign::{CertifiedKey, SigningKey};
use tokio::net::TcpStream;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream;

use crate::world::World;

/// Opens TLS on connections.
#[derive(Debug)]
pub(crate) struct Tls {
    world: Arc<World>,
    ca_pem: String,
    http2: Arc<ServerConfig>,
    http1: Arc<ServerConfig>,
}

/// Why there is no TLS.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A key or certificate cannot be made.
    #[error("cannot make a certificate")]
    Certificate(#[from] rcgen::Error),
    /// The TLS library refuses the settings.
    #[error("cannot set up TLS")]
    Setup(#[from] rustls::Error),
}

impl Tls {
    /// Makes an authority for the hosts of this web.
    pub(crate) fn new(world: &Arc<World>) -> Result<Self, TlsError> {
        let authority = Authority::new(Arc::clone(world))?;
        let ca_pem = authority.ca_pem.clone();
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(authority));
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let http1 = Arc::new(config.clone());
        config.alpn_protocols.insert(0, b"h2".to_vec());
        let http2 = Arc::new(config);
        Ok(Self {
            world: Arc::clone(world),
            ca_pem,
            http2,
            http1,
        })
    }

    pub(crate) fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// Shakes hands. HTTP/2 is offered unless it is switched off or the host misbehaves on the wire of HTTP/1.1.
    pub(crate) async fn accept(&self, stream: TcpStream) -> std::io::Result<TlsStream<TcpStream>> {
        let start = LazyConfigAcceptor::new(Acceptor::default(), stream).await?;
        let name = start
            .client_hello()
            .server_name()
            .unwrap_or_default()
            .to_owned();
        let config = if self.world.config.http2 && self.world.is_tame(&name) {
            &self.http2
        } else {
            &self.http1
        };
        start.into_stream(Arc::clone(config)).await
    }
}

/// Signs a certificate for a host when it is first asked for; as many are kept as there are hosts.
#[derive(Debug)]
struct Authority {
    world: Arc<World>,
    ca_pem: String,
    issuer: Issuer<'static, KeyPair>,
    /// The one key of all hosts.
    host_key: KeyPair,
    host_signer: Arc<dyn SigningKey>,
    signed: Mutex<HashMap<String, Arc<CertifiedKey>>>,
}

impl Authority {
    fn new(world: Arc<World>) -> Result<Self, TlsError> {
        let ca_key = KeyPair::generate()?;
        let mut params = CertificateParams::default();
        params
            .distinguished_name
            .push(DnType::CommonName, "testweb authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let ca_pem = params.self_signed(&ca_key)?.pem();
        let host_key = KeyPair::generate()?;
        let der = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(host_key.serialize_der()));
        let host_signer = ring::sign::any_ecdsa_type(&der)?;
        Ok(Self {
            world,
            ca_pem,
            issuer: Issuer::new(params, ca_key),
            host_key,
            host_signer,
            signed: Mutex::default(),
        })
    }

    fn sign(&self, name: &str) -> Result<CertificateDer<'static>, rcgen::Error> {
        let mut params = CertificateParams::new([name.to_owned()])?;
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.signed_by(&self.host_key, &self.issuer)?;
        Ok(certificate.der().clone())
    }
}

impl ResolvesServerCert for Authority {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = hello.server_name()?.to_ascii_lowercase();
        if !self.world.knows(&name) {
            return None;
        }
        let mut signed = self.signed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(certified) = signed.get(&name) {
            return Some(Arc::clone(certified));
        }
        let certificate = self.sign(&name).ok()?;
        let certified = CertifiedKey::new(vec![certificate], Arc::clone(&self.host_signer));
        let certified = Arc::new(certified);
        signed.insert(name, Arc::clone(&certified));
        Some(certified)
    }
}
