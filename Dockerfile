# The program and its console in two stages, from Debian packages and `npm ci` alone.
#
#     docker build -t seine . && docker run --rm -p 127.0.0.1:8787:8787 -v seine:/var/lib/seine seine
#
# tools/try-image runs these steps in a plain directory where there is no container runtime.
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends make git ca-certificates
COPY . /src
WORKDIR /src
RUN tools/deps run && apt-get install -y --no-install-recommends nodejs npm
RUN make product && DESTDIR=/out make install PREFIX=/usr

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates libjansson4 libssl3 libidn2-0 libc-ares2 \
    zlib1g libbrotli1 libzstd1 libdeflate0 libpsl5 libpcre2-8-0 libsqlite3-0 libyaml-0-2 libhiredis0.14 libmicrohttpd12 \
    libwslay1 && rm -rf /var/lib/apt/lists/*
COPY --from=build /out/usr /usr
RUN useradd --system --home-dir /var/lib/seine --create-home seine
USER seine
WORKDIR /var/lib/seine
VOLUME /var/lib/seine
ENV STATE_DIRECTORY=/var/lib/seine SEINE_MONITORING_PROMETHEUS_PORT=9464
EXPOSE 8787
HEALTHCHECK --interval=30s --timeout=5s CMD ["seine", "fetch", "-q", "--mine", "http://127.0.0.1:9464/readyz"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["seine"]
# In a container the console is reached from outside it: publish the port to loopback alone, or put a proxy in front.
CMD ["serve", "--listen", "0.0.0.0:8787", "--insecure-listen", "--origin", "http://127.0.0.1:8787"]
