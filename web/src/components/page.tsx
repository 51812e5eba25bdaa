import { Alert, Anchor, Box, Button, type ButtonProps, Group, Skeleton, Stack, Text } from '@mantine/core';
import { type UseQueryResult, useQueryClient } from '@tanstack/react-query';
import { createLink } from '@tanstack/react-router';
import { ArrowLeft, CircleAlert, type LucideIcon } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import { detailsOf, isTemporary, problemOf, waitMs } from '../api/problem.ts';
import { formatAgo } from '../format/time.ts';
import { useEvery } from './use-every.ts';

const ButtonAnchor = (props: ButtonProps & Omit<ComponentProps<'a'>, keyof ButtonProps>) => (
  <Button component="a" {...props} />
);

const Back = ({ children, ...props }: ComponentProps<typeof Anchor<'a'>>) => (
  <Anchor size="sm" display="inline-flex" mb={4} style={{ alignItems: 'center', gap: 5 }} {...props}>
    <ArrowLeft size={14} aria-hidden /> {children}
  </Anchor>
);

const InText = (props: ComponentProps<typeof Anchor<'a'>>) => <Anchor inherit underline="always" {...props} />;

/** Mantine's link and button as links to pages, typed by the router; a link within a text; and the one from a page to the list above it. */
export const AnchorLink = createLink(Anchor<'a'>);
export const ButtonLink = createLink(ButtonAnchor);
export const TextLink = createLink(InText);
export const BackLink = createLink(Back);

export const LimitLink = ({ id, children }: { readonly id: string; readonly children: ReactNode }) => (
  <TextLink to="/limits/$limitId" params={{ limitId: id }}>
    {children}
  </TextLink>
);

/** The title of a page, as its heading and in the browser's tab and history. */
export const Heading = ({ children }: { readonly children: string }) => (
  <>
    <title>{`${children} · AI Spend Gateway`}</title>
    <h1>{children}</h1>
  </>
);

/** Buttons in a row. Paper has none of them. */
export const PageActions = ({ children }: { readonly children: ReactNode }) => (
  <Group className="page-actions" gap={8}>
    {children}
  </Group>
);

/** The title of a card, and next to it what it offers. */
export const CardHead = ({ title, children }: { readonly title: string; readonly children?: ReactNode }) => (
  <Group justify="space-between" gap="8px 16px" mb={14}>
    <h2 className="section-title">{title}</h2>
    {children}
  </Group>
);

interface PageProps {
  readonly title: string;
  readonly about?: ReactNode;
  readonly back?: ReactNode;
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}

/** A page, and at its top its title, a sentence about it, the way back, and on the right its buttons. */
export const Page = ({ title, about, back, actions, children }: PageProps) => (
  <div className="page">
    <div className="page-head">
      <div>
        {back}
        <Heading>{title}</Heading>
        {about && <p>{about}</p>}
      </div>
      {actions && <PageActions>{actions}</PageActions>}
    </div>
    {children}
  </div>
);

interface SectionProps {
  readonly title: string;
  readonly about?: ReactNode;
  /** Has code, whose lines are longer than a form is wide. */
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

/** A card with a heading, for one setting or a few that belong together. */
export const Section = ({ title, about, isWide = false, children }: SectionProps) => (
  <section className={`card card-pad section ${isWide ? 'wide' : ''}`} aria-label={title}>
    <div>
      <h2 className="section-title">{title}</h2>
      {about && <p className="dim small">{about}</p>}
    </div>
    <div>{children}</div>
  </section>
);

interface CardProps {
  readonly title: string;
  readonly about?: string;
  readonly action?: ReactNode;
  readonly children: ReactNode;
}

export const Card = ({ title, about, action, children }: CardProps) => (
  <section className="card card-pad" aria-label={title}>
    <CardHead title={title}>{action}</CardHead>
    {about && <p className="dim small">{about}</p>}
    {children}
  </section>
);

interface FactProps {
  readonly name: ReactNode;
  readonly what?: ReactNode;
  readonly warns?: boolean;
  readonly children: ReactNode;
}

/** A name with its figure, in a list of facts. */
export const Fact = ({ name, what, warns = false, children }: FactProps) => (
  <div>
    <dt>
      <span>
        {name}
        {what && (
          <Text span display="block" c="dimmed" fz={12.5} fw={430} lh={1.4}>
            {what}
          </Text>
        )}
      </span>
    </dt>
    <dd>
      <span className={`num ${warns ? 'unknown' : ''}`}>{children}</span>
    </dd>
  </div>
);

/** Why a view is empty, and what to do. */
export interface Empty {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly text?: ReactNode;
  readonly action?: ReactNode;
}

export const EmptyState = ({ icon: Icon, title, text, action }: Empty) => (
  <Stack align="center" gap={8} px={24} py={56} ta="center">
    <Box className="disc" w={48} h={48} mb={4}>
      <Icon size={22} strokeWidth={1.7} aria-hidden />
    </Box>
    <Text component="h2" fw={620}>
      {title}
    </Text>
    {text && (
      <Text component="p" mb={8} maw="46ch" c="dimmed" size="sm">
        {text}
      </Text>
    )}
    {action}
  </Stack>
);

export const EmptyCard = (empty: Empty) => (
  <section className="card">
    <EmptyState {...empty} />
  </section>
);

interface ScrollRegionProps {
  readonly label: string;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** A region that scrolls. It has a name and takes the focus, so that the keyboard can scroll it too. */
export const ScrollRegion = ({ label, className, children }: ScrollRegionProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must take the focus.
  <section className={className} aria-label={label} tabIndex={0}>
    {children}
  </section>
);

/** The API's error message, with a retry button where one helps. */
export const ProblemNote = ({
  error,
  onRetry,
  title = 'Something went wrong',
  messages = {},
  shownSinceMs = 0,
  details = detailsOf(error),
}: {
  readonly error: unknown;
  readonly onRetry?: () => void;
  readonly title?: string | undefined;
  /** Messages by error code, where the API's are meant for programmers. */
  readonly messages?: Readonly<Record<string, string>> | undefined;
  /** When the figures that stay on the page were loaded, ms since 1970; 0 if there are none. */
  readonly shownSinceMs?: number;
  /** The API's messages on what no field of the page is about: by default all. */
  readonly details?: readonly string[];
}) => {
  const { code, message, requestId } = problemOf(error);
  // Counted down to 0, when the API takes another attempt.
  const seconds = Math.ceil(waitMs(error) / 1000);
  useEvery(seconds > 0 ? 1000 : null);
  const isNetwork = code === 'NETWORK';
  // Shown for bug reports, where the user did not cause the error.
  const helps = isTemporary(error);
  const quotable = helps ? requestId : undefined;
  return (
    <Alert
      role="alert"
      color="red"
      icon={<CircleAlert size={18} />}
      title={isNetwork ? 'No connection to the API' : title}
    >
      <Text size="sm">
        {isNetwork ? 'Check your network connection.' : (messages[code] ?? message)}
        {shownSinceMs > 0 && ` The figures shown are of ${formatAgo(new Date(shownSinceMs).toISOString())}.`}
      </Text>
      {details.map((detail) => (
        <Text key={detail} size="sm">
          {detail}
        </Text>
      ))}
      {((onRetry && helps) || quotable) && (
        <Group gap="sm" mt="xs">
          {onRetry && helps && (
            <Button size="compact-sm" variant="default" onClick={onRetry} disabled={seconds > 0}>
              {seconds > 0 ? `Try again in ${seconds} s` : 'Try again'}
            </Button>
          )}
          {quotable && <span className="dim small mono">Request {quotable}</span>}
        </Group>
      )}
    </Alert>
  );
};

export type LoadedQuery = Pick<UseQueryResult<unknown, unknown>, 'error' | 'data' | 'dataUpdatedAt'>;

interface LoadProblemProps {
  readonly query: LoadedQuery;
  readonly title: string;
}

/** Why a page has no figures, or old ones, and how old they are. One click tries all again that failed. Nothing where all is well. */
export const LoadProblem = ({ query: { error, data, dataUpdatedAt }, title }: LoadProblemProps) => {
  const queryClient = useQueryClient();
  if (!error) return null;
  const retry = () =>
    void queryClient.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' });
  const shownSinceMs = data === undefined ? 0 : dataUpdatedAt;
  return <ProblemNote error={error} onRetry={retry} title={title} shownSinceMs={shownSinceMs} />;
};

interface LoadedProps<Data> extends LoadProblemProps {
  readonly query: LoadedQuery & { readonly data: Data | undefined };
  /** That the skeleton has, in pixels. */
  readonly height: number;
  /** Shown where the API has no such thing. */
  readonly missing?: Empty;
  readonly children: (data: Data) => ReactNode;
}

/** Shows what a query has read, a skeleton until then, or why there is nothing. */
export const Loaded = <Data,>({ query, title, height, missing, children }: LoadedProps<Data>) => {
  const { data, error } = query;
  if (missing && problemOf(error).code === 'NOT_FOUND') return <EmptyCard {...missing} />;
  return (
    <>
      <LoadProblem query={query} title={title} />
      {data === undefined && !error && <Skeleton height={height} radius="lg" />}
      {data !== undefined && children(data)}
    </>
  );
};

interface ListPageProps extends Omit<PageProps, 'back'> {
  readonly query: LoadedQuery & {
    readonly data: { readonly items: readonly unknown[]; readonly unreadable?: number | undefined } | undefined;
  };
  /** Plural name of the items: `rules`. By default the title. */
  readonly things?: string;
  /** The skeleton of pages whose list has none. */
  readonly skeleton?: boolean;
  /** Given where the list has no item. */
  readonly empty?: false | Empty | undefined;
}

/** A page of a list: its head, why it has no items or old ones, a skeleton while it loads, and what there is where it is empty. */
export const ListPage = (props: ListPageProps) => {
  const { title, query, things = title.toLowerCase(), empty } = props;
  return (
    <Page title={title} about={props.about} actions={props.actions}>
      <LoadProblem query={query} title={`The ${things} could not be loaded`} />
      {props.skeleton && !query.data && !query.error && <Skeleton height={220} radius="lg" />}
      {empty && <EmptyCard {...empty} />}
      {query.data?.unreadable ? (
        <p className="unknown small">
          {`Not listed: ${query.data.unreadable} of the ${things}. A later version of the service wrote them, and this one cannot read them.`}
        </p>
      ) : null}
      {props.children}
    </Page>
  );
};

/** The logo: rising bars. */
export const Mark = ({ size = 28 }: { readonly size?: number }) => (
  <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="8" fill="#0f766e" />
    <path d="M8 22.5v-5M13.3 22.5v-9M18.7 22.5V16M24 22.5V9.5" stroke="#fff" strokeWidth="3" strokeLinecap="round" />
  </svg>
);
