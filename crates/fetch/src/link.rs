//! A connection that an exchange can run over, whatever version of HTTP it speaks.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Empty;
use junkai_http::HeadIndex;
use tokio::time::Instant;

use crate::bounds::Bounds;
use crate::exchange::{Protocol, TlsSession};
use crate::failure::Failure;
use crate::http1::Http1;
use crate::http2::Http2;
use crate::intake::Taken;
use crate::resources::Resources;
use crate::stock::Share;
use crate::watch::Watch;

/// A connection between exchanges.
pub(crate) enum Link {
    Http1(Box<Http1>),
    Http2(Box<Http2>),
}

/// What a new connection is given of what all share.
pub(crate) struct Room<'a> {
    pub(crate) resources: &'a Arc<Resources>,
    pub(crate) descriptor: Share,
}

/// What an exchange left behind.
pub(crate) struct Captured {
    pub(crate) request: Bytes,
    pub(crate) response: Taken,
    pub(crate) first_byte: Option<Instant>,
    pub(crate) protocol: Option<Protocol>,
    pub(crate) head: Option<HeadIndex>,
    pub(crate) irregular: Option<String>,
    pub(crate) end: Result<(), Failure>,
}

impl Link {
    /// Whether the connection can be expected to carry another exchange.
    pub(crate) async fn is_alive(&mut self) -> bool {
        match self {
            Self::Http1(link) => link.is_alive().await,
            Self::Http2(link) => link.is_alive(),
        }
    }

    /// Runs an exchange; gives the connection back if it can be used again.
    pub(crate) async fn exchange(
        self,
        request: http::Request<Empty<Bytes>>,
        bounds: Bounds,
        watch: &mut Watch,
    ) -> (Captured, Option<Self>) {
        match self {
            Self::Http1(link) => {
                let (captured, link) = link.exchange(request, bounds, watch).await;
                (captured, link.map(|link| Self::Http1(Box::new(link))))
            }
            Self::Http2(link) => {
                let (captured, link) = link.exchange(request, bounds, watch).await;
                (captured, link.map(|link| Self::Http2(Box::new(link))))
            }
        }
    }

    pub(crate) fn session(&self) -> Option<&Arc<TlsSession>> {
        match self {
            Self::Http1(link) => link.session.as_ref(),
            Self::Http2(link) => link.session.as_ref(),
        }
    }

    pub(crate) fn is_http2(&self) -> bool {
        matches!(self, Self::Http2(_))
    }
}
