package extract

import (
	"strings"

	"golang.org/x/net/html"
)

// group is a purpose that the authors of pages give away by the names of classes,
// ids and roles.
type group int

const (
	groupNav group = iota
	groupFooter
	groupHeader
	groupSidebar
	groupRelated
	groupComment
	groupShare
	groupPromo
	groupOverlay
	groupByline
	groupTrail
	groupSignup
	groupContent
	groupArticle
	groupBody
	groupProduct
	groupReview
	groupForum
	groupCard
	groupCaption
	groupTopic
	groupWidget
	groupTool
	groupHidden
	groupHero
	groupFAQ
	groupAnswer
	groupUser
	groupTable
	groupSummary
	groupCount
)

type groupSet uint32

// groupWords are the words of each group, as they stand in names.
var groupWords = [groupCount]string{
	groupNav:     "nav navbar navigation menu submenu navi navlist topnav mainnav megamenu menubar topbar subnav dropdown tabs tablist toc index offcanvas hamburger sitemap skip",
	groupFooter:  "footer foot colophon copyright legal bottom footnav contentinfo siteinfo credits disclaimer",
	groupHeader:  "header masthead head banner topbar logo branding brand siteheader top",
	groupSidebar: "sidebar aside rail side secondary complementary sidecolumn rightcol leftcol rightcolumn leftcolumn right left sidenav tertiary",
	groupRelated: "related recommend recommended recommendation recommendations recirc more also popular trending latest recent similar suggested suggestions readmore read next prev previous upnext crosssell upsell others youmay outbrain taboola mostread featured teaser teasers",
	groupComment: "comment comments disqus respond reply replies discussion commentlist",
	groupShare:   "share sharing social addthis sharedaddy facebook twitter linkedin whatsapp pinterest follow instagram sharethis addtoany",
	groupPromo:   "ad ads advert advertisement adsense sponsor sponsored promo promotion promotions dfp adslot banner marketing cta affiliate partner partners",
	groupOverlay: "modal popup overlay dialog lightbox cookie cookies consent gdpr toast alert notice notification cmp onetrust paywall tooltip popover banner drawer",
	groupByline:  "byline author authors meta postmeta date time timestamp dateline published publish posted updated info contributor writer bio credit profile avatar",
	groupTrail:   "breadcrumb breadcrumbs crumb crumbs trail pagination pager paging pagenav page-numbers paginate",
	groupSignup:  "newsletter subscribe subscription signup sign-up mailing optin mailchimp register login signin email form",
	groupContent: "content contents main primary maincontent page wrapper container central body inner",
	groupArticle: "article post entry story blog news hentry blogpost single newsarticle posting articlebody document doc docs markdown wiki rst",
	groupBody:    "articlebody text body copy rte richtext rich prose wysiwyg paragraph description desc postcontent entrycontent storybody bodytext articletext markdown editor cms formatted",
	groupProduct: "product products price prices sku cart shop woocommerce buy variant variants quantity stock add basket checkout spec specs specification specifications feature features",
	groupReview:  "review reviews rating ratings stars testimonial testimonials customer",
	groupForum:   "forum thread topic topics message messages post posts bbcode phpbb vbulletin discourse question qa postbody cooked usertext reply quote",
	groupCard:    "card cards grid item items tile tiles list listing listings row col column result results entry loop collection gallery carousel slider swiper slick slide",
	groupCaption: "caption captions wp-caption figcaption figure image img photo photos media video gallery thumbnail thumb credit picture",
	groupTopic:   "tag tags category categories cat taxonomy label labels keyword keywords badge topic topics",
	groupWidget:  "widget widgets block module plugin component addon box panel",
	groupTool:    "tool tools toolbar action actions button buttons btn control controls print filter filters sort search facet facets option options edit vote votes copy",
	groupHidden:  "hidden hide sr only visuallyhidden screen reader offscreen invisible collapsed noprint none collapse",
	groupHero:    "hero intro jumbotron lead lede subtitle deck standfirst headline subheading tagline title heading",
	groupFAQ:     "faq faqs accordion toggle expand collapsible tab tabpanel panel details",
	groupAnswer:  "answer answers accepted solution answercell votecell best",
	groupUser:    "user users member members signature sig username avatar reputation karma poster userinfo profile badge badges",
	groupTable:   "table data cell infobox stats spec chart",
	groupSummary: "summary abstract excerpt teaser highlights keypoints takeaways toc overview key",
}

var groupsByWord = buildGroups()

func buildGroups() map[string]groupSet {
	m := map[string]groupSet{}
	for g, words := range groupWords {
		for _, w := range strings.Fields(words) {
			m[w] |= 1 << g
		}
	}
	return m
}

// groupsOf reads the names that an element bears.
func groupsOf(n *html.Node) groupSet {
	var set groupSet
	for i := range n.Attr {
		switch a := &n.Attr[i]; a.Key {
		case "class", "id", "role", "itemprop", "data-testid", "data-component", "aria-label":
			if len(a.Val) <= 400 {
				set |= groupsIn(a.Val)
			}
		}
	}
	return set
}

// groupsIn looks up each word of a name: "postBody-inner" has three, and
// "postbody" is looked up too.
func groupsIn(name string) groupSet {
	var set groupSet
	for whole := range strings.FieldsSeq(name) {
		set |= groupsByWord[strings.ToLower(whole)]
		start := 0
		for i := 0; i <= len(whole); i++ {
			humped := i > start && i < len(whole) && isUpper(whole[i]) && !isUpper(whole[i-1])
			if i < len(whole) && isLetter(whole[i]) && !humped {
				continue
			}
			if i > start {
				set |= groupsByWord[strings.ToLower(whole[start:i])]
			}
			start = i
			if i < len(whole) && !isLetter(whole[i]) {
				start = i + 1
			}
		}
	}
	return set
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }
