import { Badge, Box, Group, Skeleton, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApi, useApp, useMe } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { CopyToClipboard } from '../components/copy.tsx';
import { Card, Page, ScrollRegion, Section, TextLink } from '../components/page.tsx';
import { SdkSnippet, useOwnKey } from '../providers/sdk-snippet.tsx';
import { PLACEHOLDER } from '../providers/snippets.ts';

const REFRESH_MS = 10_000;

/** When something arrived last: the page looks again every few seconds. @param at undefined where that is not known */
const Seen = ({ at }: { readonly at: string | null | undefined }) =>
  at === undefined ? null : at ? (
    <Badge>
      seen <Instant iso={at} ago />
    </Badge>
  ) : (
    <Badge variant="default">not seen yet</Badge>
  );

interface SetUpProps {
  readonly title: string;
  readonly about: ReactNode;
  readonly text: string;
}

const SetUp = ({ title, about, text }: SetUpProps) => (
  <Section title={title} about={about}>
    <Group align="flex-start" gap={6} wrap="nowrap">
      <Box flex={1} miw={0}>
        <ScrollRegion className="code" label={`The set-up of ${title}`}>
          <pre>{text}</pre>
        </ScrollRegion>
      </Box>
      <CopyToClipboard value={text} label={`Copy the set-up of ${title}`} />
    </Group>
  </Section>
);

const Programs = () => {
  const { settings } = useApp();
  const { may } = useMe();
  const { data: tokens } = useApi().useQuery(
    'get',
    '/tokens',
    {},
    { enabled: may('tokens:read'), refetchInterval: REFRESH_MS },
  );
  const api = new URL(settings.apiUrl, location.origin);
  const uses = tokens?.items.flatMap(({ lastUsedAt }) => lastUsedAt ?? []).sort();
  return (
    <>
      <Section title="API token" about="Programs read spend with a token of the role viewer.">
        <Group justify="space-between">
          {may('tokens:write') ? <TextLink to="/tokens">Create a token</TextLink> : 'Owners and admins create them.'}
          <Seen at={uses && (uses.at(-1) ?? null)} />
        </Group>
      </Section>
      <SetUp
        title="Prometheus"
        about="Cost, requests and budgets as metrics, each minute. There is a Grafana dashboard for them."
        text={`scrape_configs:
  - job_name: ai-spend
    scheme: ${api.protocol.slice(0, -1)}
    scrape_interval: 1m
    metrics_path: ${api.pathname}/machine/metrics
    authorization:
      credentials_file: /etc/prometheus/ai-spend-token
    static_configs: [{ targets: ['${api.host}'] }]`}
      />
      <SetUp
        title="MCP"
        about={`Agents ask about spend, read only. A connector (Claude, ChatGPT …) needs ${api}/mcp alone, and leads you to this dashboard to let it in. Here is Claude Code, with a token.`}
        text={`claude mcp add --transport http spend ${api}/mcp \\
  --header "Authorization: Bearer $API_TOKEN"`}
      />
      <SetUp
        title="Status line"
        about="Today’s spend and what is left of a budget, in Claude Code or tmux: ops/status-line.sh."
        text={`AI_SPEND_URL=${api.origin} \\
  AI_SPEND_TOKEN=sat_… status-line.sh`}
      />
      <SetUp
        title="Spend by program"
        about="Paths below /machine take the token as it is. For the rest of the API, exchange it for a JWT: POST /auth/token with OAuth 2 client credentials."
        text={`curl "${api}/machine/spend?groupBy=model" \\
  -H "Authorization: Bearer sat_…"`}
      />
      <SetUp
        title="Exported days"
        about="Each item has a link to its file that works for 15 minutes. On AWS the same files are tables in Athena."
        text={`curl "${api}/machine/exports?format=parquet" \\
  -H "Authorization: Bearer sat_…"`}
      />
    </>
  );
};

export const Connect = () => {
  const { may } = useMe();
  const ownKey = useOwnKey();
  const { data } = useApi().useQuery(
    'get',
    '/requests',
    { params: { query: { limit: 1 } } },
    { enabled: may('requests:read'), refetchInterval: REFRESH_MS },
  );
  return (
    <Page title="Connect" about="Point an SDK or a coding tool at the gateway, and read spend from your own tools.">
      <Card title="SDKs and coding tools" action={<Seen at={data && (data.items[0]?.startedAt ?? null)} />}>
        <Stack>
          {ownKey === PLACEHOLDER && (
            <p className="dim small">{`Replace ${PLACEHOLDER} with your key: keys are shown only when they are created.`}</p>
          )}
          {ownKey ? <SdkSnippet serviceKey={ownKey} /> : <Skeleton height={240} />}
        </Stack>
      </Card>
      <Programs />
    </Page>
  );
};
