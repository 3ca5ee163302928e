# Two stages: build the bundle with everything, run it with what it needs and nobody's rights.
#
# Inside, it listens on every address, and without TLS it starts only when it is told whose connections are safe:
#   docker run -p 127.0.0.1:7494:7494 -e PIXIR_BEHIND_PROXY=172.16.0.0/12 …    the host itself, through Docker's bridge
#   docker run -p 7494:7494 -v /etc/pixir:/tls:ro -e PIXIR_TLS_CERT=/tls/cert.pem -e PIXIR_TLS_KEY=/tls/key.pem …
# With PIXIR_TLS_CERT set, override the health check: it asks over plain HTTP.
FROM node:26-bookworm-slim AS build
WORKDIR /app
COPY . .
RUN npm ci && npm run build && npm prune --omit=dev

FROM node:26-bookworm-slim
ENV NODE_ENV=production PIXIR_DATA_DIR=/data PIXIR_HOST=0.0.0.0 PIXIR_PORT=7494 PIXIR_WORKSPACES=/workspace
WORKDIR /app
RUN apt-get update \
  && apt-get install -y --no-install-recommends git \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --create-home --uid 10001 pixir \
  && install -d -o pixir -g pixir -m 0700 /data \
  && install -d -o pixir -g pixir /workspace
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/bin ./bin
COPY --from=build /app/dist ./dist
COPY --from=build /app/migrations ./migrations
COPY --from=build /app/web/dist ./web/dist
USER pixir
VOLUME /data
EXPOSE 7494
HEALTHCHECK --interval=30s --timeout=3s --start-period=5s \
  CMD node -e "fetch('http://127.0.0.1:'+process.env.PIXIR_PORT+'/readyz').then(r=>process.exit(r.ok?0:1),()=>process.exit(1))"
ENTRYPOINT ["node", "bin/pixir"]
CMD ["serve"]
