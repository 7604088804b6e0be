# syntax=docker/dockerfile:1
# The service as an image: src/deploy/README.md.

FROM node:24-trixie-slim AS build
WORKDIR /app
# First what changes seldom. `prepare` needs the sources, and runs below.
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts
COPY tsconfig.json LICENSE ./
COPY machines machines
COPY src src
# What built it stays behind.
RUN node src/build.mjs && rm -r node_modules/esbuild node_modules/@esbuild node_modules/preact node_modules/marked node_modules/temml
# Of the builds of uWebSockets.js all but this Node's: 100 MB.
RUN find node_modules/uWebSockets.js -name "uws_*.node" \
  ! -name "uws_$(node -p "[process.platform, process.arch, process.versions.modules].join('_')").node" -delete

FROM node:24-trixie-slim
WORKDIR /app
COPY --from=build /app/package.json /app/LICENSE ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
# DATA_DIR is all that it writes: the rest of the file system may be read-only.
RUN ln -s /app/dist/src/cli/chat-agent.js /usr/local/bin/chat-agent && install -d -o node -g node -m 700 /data
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
VOLUME /data
EXPOSE 8080
USER node
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node itself is the process that gets the signals: no shell, no npm.
ENTRYPOINT ["node", "/app/dist/src/cli/chat-agent.js"]
CMD ["serve"]
