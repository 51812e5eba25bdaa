import {
  ActionIcon,
  Alert,
  Badge,
  Box,
  Button,
  Group,
  SegmentedControl,
  Stack,
  Text,
  UnstyledButton,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { ChevronRight, LogOut, Search } from 'lucide-react';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { useApi, useApp, useHasNotifications, useMe } from '../app.ts';
import { AtRate, type Rate } from '../components/amount.tsx';
import { later } from '../components/later.tsx';
import { AnchorLink, LoadProblem, Mark, Page } from '../components/page.tsx';
import { readsDollars } from '../format/reading.ts';
import { timeZone, utcDate, zoneName, zoneOffset } from '../format/time.ts';
import { useBudgets, usePauses } from '../limits/use-limits.ts';
import { useZone } from '../spend/use-spend.ts';
import { barPages, type MenuPage, pageGroups } from './navigation.ts';
import classes from './shell.module.css';

const ColorScheme = () => {
  // Mantine would turn transitions off in a style element, which the page's policy forbids.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  return (
    <SegmentedControl
      size="xs"
      fullWidth
      aria-label="Colours"
      tt="capitalize"
      data={['light', 'dark', 'auto']}
      value={colorScheme}
      onChange={(value) => setColorScheme(value as 'light' | 'dark' | 'auto')}
    />
  );
};

const Reading = later(() => import('./reading.tsx'));

/** Whose days and which currency the figures have; a click changes that for this person. */
const TimesShown = () => {
  const zone = useZone();
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <UnstyledButton c="dimmed" fz={11.5} lh={1.45} px={10} pb={10} onClick={open}>
        Times: {timeZone.replaceAll('_', ' ')} ({zoneOffset()}). Days: {zoneName(zone)}.{' '}
        <span style={{ textDecoration: 'underline' }}>Zone and currency</span>
      </UnstyledButton>
      {isOpen && <Reading onClose={close} />}
    </>
  );
};

const SignedIn = () => {
  const { session } = useApp();
  const { me } = useMe();
  const { firstName = '', lastName = '', companyName, email } = me?.user ?? {};
  return (
    <Group gap={10} pl={10} pt={12} wrap="nowrap">
      <Box className="disc" w={32} h={32} fz={12} fw={650} aria-hidden>
        {`${firstName.slice(0, 1)}${lastName.slice(0, 1)}`.toUpperCase()}
      </Box>
      <Stack gap={0} flex={1} miw={0} mih={36} className="small" fw={560} title={email}>
        <AnchorLink to="/profile" inherit truncate title="Your profile">
          {`${firstName} ${lastName}`}
        </AnchorLink>
        <Text span truncate c="dimmed" fz={12}>
          {companyName ?? email ?? ' '}
        </Text>
      </Stack>
      <ActionIcon aria-label="Sign out" title="Sign out" onClick={() => session.end('signedOut')}>
        <LogOut size={16} />
      </ActionIcon>
    </Group>
  );
};

/** Loaded when it is first asked for. */
const Palette = later(() => import('./palette.tsx'));

const isApple = /mac|iphone|ipad/i.test(navigator.userAgent);

/** The button, and Ctrl-K or ⌘K anywhere, that opens the command palette. */
const OpenPalette = () => {
  const [isOpen, { open, close }] = useDisclosure();
  useHotkeys([['mod+K', open]], []);
  return (
    <>
      <Button
        variant="default"
        size="xs"
        mb={12}
        c="dimmed"
        styles={{ label: { flex: 1 } }}
        leftSection={<Search size={16} aria-hidden />}
        rightSection={<kbd>{isApple ? '⌘K' : 'Ctrl K'}</kbd>}
        onClick={open}
      >
        Go to …
      </Button>
      {isOpen && <Palette onClose={close} />}
    </>
  );
};

const Notifications = later(async () => ({ default: (await import('@mantine/notifications')).Notifications }));

const MAX_COUNTED = 100;
const REFRESH_MS = 60_000;

/** The number of open alerts: `3`, `100+`; `?` where it could not be read; undefined for none, and while loading. */
const useOpenAlerts = (): string | undefined => {
  const { data, isError } = useApi().useQuery(
    'get',
    '/alerts',
    { params: { query: { status: 'triggered', limit: MAX_COUNTED } } },
    { refetchInterval: REFRESH_MS, enabled: useMe().may('rules:read') },
  );
  if (isError && !data) return '?';
  const count = data?.items.length ?? 0;
  if (count === 0) return undefined;
  return data?.nextCursor ? `${count}+` : String(count);
};

const RefusingList = later(() => import('../limits/refusing-list.tsx'));

/** On every page: what the gateway refuses now, and why. */
const Refusing = () => {
  const usedUp = useBudgets().data?.items.filter(({ state }) => state.isBlocking) ?? [];
  const paused = usePauses().data?.items ?? [];
  return usedUp.length + paused.length > 0 && <RefusingList usedUp={usedUp} paused={paused} />;
};

/** Lists that pages take names or a number from, and whose failure they do not report. */
const LOOKUP = /^\/(budgets|pauses|alerts|keys|projects|members|prices)$/;
/** A list and the page that says itself that it failed. */
const OWN_PAGE =
  /^(\S+) \1$|^\/(budgets|pauses) \/limits$|^\/projects \/keys$|^\/(budgets|keys) \/access$|^\/budgets \/alerts\/./;

/** Says which of them the page lacks. */
const MissingLookups = () => {
  const pathname = useLocation({ select: ({ pathname }) => pathname });
  const cache = useQueryClient().getQueryCache();
  const failedNow = () =>
    cache
      .findAll({ type: 'active' })
      .filter(({ state: { status, data } }) => status === 'error' && !data)
      .filter(({ queryKey: [, path] }) => LOOKUP.test(String(path)) && !OWN_PAGE.test(`${path} ${pathname}`));
  useSyncExternalStore(
    (changed) => cache.subscribe(changed),
    () => String(failedNow().map(({ queryHash }) => queryHash)),
  );
  const failed = failedNow();
  const lists = new Set(failed.map(({ queryKey: [, path] }) => String(path).slice(1)));
  return failed[0] && <LoadProblem query={failed[0].state} title={`Could not be loaded: ${[...lists].join(', ')}`} />;
};

const VerifyEmailForm = later(async () => ({ default: (await import('../account/credentials.tsx')).VerifyEmailForm }));

/** Why the user is not known; or a pending step of the login: a review after a reset, or the code that verifies the address. */
const OfUser = () => {
  const { me, query } = useMe();
  if (query.isLoadingError) return <LoadProblem query={query} title="Your user could not be loaded" />;
  if (me?.user.reviewSince)
    return (
      <Alert color="yellow" radius={0}>
        <b>Review recent keys.</b> Your password or address changed.{' '}
        <AnchorLink to="/review">Look through the keys made before</AnchorLink>.
      </Alert>
    );
  if (me === undefined || me.user.emailVerified) return null;
  return (
    <Alert color="yellow" radius={0}>
      <VerifyEmailForm address={me.user.email} />
    </Alert>
  );
};

interface PageLinkProps {
  readonly page: Pick<MenuPage, 'to' | 'icon'> & { readonly label: string };
  /** A page that the entry leads to is open. */
  readonly isActive?: boolean;
  readonly badge?: string | undefined;
}

const PageLink = ({ page: { to, label, icon: Icon }, isActive = false, badge }: PageLinkProps) => (
  <Link
    to={to}
    className={classes['link']}
    activeOptions={{ exact: to === '/', includeSearch: false }}
    activeProps={{ 'data-active': true }}
    {...(isActive && { 'data-active': true })}
  >
    <Icon size={19} strokeWidth={1.8} aria-hidden />
    <span>{label}</span>
    {badge && (
      <Badge color="red" ml="auto" className={classes['badge']}>
        {badge}
        <VisuallyHidden> open</VisuallyHidden>
      </Badge>
    )}
  </Link>
);

const RATES_MS = 600_000;

/** The display currency at the rate of today: that of figures that have none of their own. */
const useRate = (): Rate | undefined => {
  const enabled = useMe().may('spend:read-all') && !readsDollars;
  const { data } = useApi().useQuery('get', '/prices', {}, { enabled, staleTime: RATES_MS });
  const { code, rates = [] } = data?.currency ?? {};
  const rate = rates.findLast(({ from }) => from <= utcDate(new Date()));
  return code && rate ? { code, perUsd: Number(rate.perUsd) } : undefined;
};

/** Brings a developer who opens the dashboard, and no page of it, to their own page. */
const useLanding = () => {
  const { me } = useMe();
  const { href } = useLocation();
  const navigate = useNavigate();
  const hasLanded = useRef(false);
  const role = me?.user.role;
  useEffect(() => {
    if (role === undefined || hasLanded.current) return;
    hasLanded.current = true;
    if (role === 'developer' && href === '/') void navigate({ to: '/access', replace: true });
  }, [role, href, navigate]);
};

/** The frame of the signed-in pages: a side menu, or a bottom bar on a phone. */
export const Shell = () => {
  useLanding();
  const openAlerts = useOpenAlerts();
  const hasNotifications = useHasNotifications();
  const { may } = useMe();
  const rate = useRate();
  const pathname = useLocation({ select: ({ pathname }) => pathname });
  /** Entries of the menu, each with the pages that the role may open: one at least. */
  const menu = pageGroups.flatMap(({ name, pages }) => {
    const [first, ...further] = (pages as readonly MenuPage[]).filter(({ needs }) => may(needs));
    return first ? [{ name, pages: [first, ...further] as const }] : [];
  });
  const section = menu.find(({ pages }) => pages.some(({ to }) => to !== '/' && pathname.startsWith(to)));
  const badgeOf = ({ to }: Pick<MenuPage, 'to'>) => (to === '/alerts' ? openAlerts : undefined);
  return (
    <div className={classes['shell']}>
      {hasNotifications && <Notifications position="bottom-right" limit={3} />}
      <a className={classes['skip']} href="#content">
        Skip to content
      </a>
      <header className={classes['side']}>
        <AnchorLink to="/" display="flex" c="var(--ink)" fw={660} underline="never" px={8} pb={14}>
          <Group gap={10}>
            <Mark /> AI Spend
          </Group>
        </AnchorLink>
        <OpenPalette />
        <nav className={classes['nav']} aria-label="Pages">
          {menu.map(({ name, pages: [first, ...further] }) => (
            <PageLink
              key={name}
              page={{ ...first, label: name }}
              isActive={further.some(({ to }) => pathname.startsWith(to))}
              badge={badgeOf(first)}
            />
          ))}
        </nav>
        <TimesShown />
        <ColorScheme />
        <SignedIn />
      </header>
      <main id="content" className={classes['content']} tabIndex={-1}>
        {section && section.pages.length > 1 && (
          <nav className={classes['section']} aria-label={section.name}>
            {section.pages.map(({ to, label }) => (
              <Link key={to} to={to} activeProps={{ 'data-active': true }} activeOptions={{ includeSearch: false }}>
                {label}
              </Link>
            ))}
          </nav>
        )}
        <AtRate value={rate}>
          <Outlet />
        </AtRate>
        <div className={classes['messages']}>
          <OfUser />
          <MissingLookups />
          <Refusing />
        </div>
      </main>
      <nav className={classes['bar']} aria-label="Pages">
        {barPages
          .filter(({ needs }) => may(needs))
          .map((page) => (
            <PageLink key={page.to} page={page} badge={badgeOf(page)} />
          ))}
      </nav>
    </div>
  );
};

const inBar: ReadonlySet<string> = new Set(barPages.map(({ to }) => to));

/** The pages and settings that a phone's bar has no room for. */
export const More = () => {
  const { may } = useMe();
  return (
    <Page title="More">
      <nav className={`card ${classes['further']}`} aria-label="Further pages">
        {pageGroups
          .flatMap(({ pages }): readonly MenuPage[] => pages)
          .filter((page) => may(page.needs) && !inBar.has(page.to))
          .map(({ to, label, icon: Icon }) => (
            <Link key={to} to={to}>
              <Icon size={19} strokeWidth={1.8} aria-hidden />
              {label}
              <ChevronRight size={16} aria-hidden />
            </Link>
          ))}
      </nav>
      <Stack gap={12} p={16} className="card">
        <ColorScheme />
        <TimesShown />
        <SignedIn />
      </Stack>
    </Page>
  );
};
